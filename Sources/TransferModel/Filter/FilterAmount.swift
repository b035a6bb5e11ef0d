/// Numbers of tests: binary sizes and durations, as everywhere.
enum FilterAmount {
    static func form(of key: FilterTest.NumberKey) -> String {
        switch key {
        case .size: "a size such as 512K or 2G"
        case .done: "a size such as 512K, or a share such as 50%"
        case .speed: "a speed such as 100K"
        case .eta, .age: "a time such as 30s, 5m, 2h or 3d"
        case .tries: "a number"
        }
    }

    /// `512K`, `1.5G`, `2Gi`.
    static func bytes(_ word: String) -> Int64? {
        let number = word.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = word.dropFirst(number.count).lowercased()
        guard let value = Double(number), value >= 0,
            let power = ["", "k", "m", "g", "t", "p"].firstIndex(where: {
                unit == $0 || !$0.isEmpty && unit == $0 + "i"
            })
        else { return nil }
        let bytes = value * Double(Int64(1) << Int64(10 * power))
        return bytes < 9e18 ? Int64(bytes) : nil
    }

    /// `30s`, `5m`, `1h30m`, `3d`; `nil` also for more seconds than 64 bits hold.
    static func seconds(_ word: String) -> Int64? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        var (sum, number): (Int64, Int64?) = (0, nil)
        for letter in word {
            if let digit = letter.wholeNumberValue, letter.isASCII {
                guard (number ?? 0) < 1_000_000_000 else { return nil }
                number = (number ?? 0) * 10 + Int64(digit)
            } else {
                guard let unit = units[letter], let count = number else { return nil }
                // One count is small enough, however many follow one another.
                let (total, isTooLong) = sum.addingReportingOverflow(count * unit)
                if isTooLong { return nil }
                sum = total
                number = nil
            }
        }
        return number == nil && !word.isEmpty ? sum : nil
    }
}
