import Configuration

/// The splitting of lines into words, and the wording of numbers.
extension LineDialogue {
    /// A line as a shell would take it apart: blanks, quotes, backslashes; `nil`: a quote is not closed.
    static func words(_ line: String) -> [String]? {
        var (words, quote, isEscaped, isOpen): ([String], Unicode.Scalar?, Bool, Bool) = ([], nil, false, false)
        var word = String.UnicodeScalarView()
        // One by one: a quote and a mark behind it would be one `Character`.
        for letter in line.unicodeScalars {
            if isEscaped {
                word.append(letter)
                isEscaped = false
            } else if letter == "\\", quote != "'" {
                (isEscaped, isOpen) = (true, true)
            } else if let open = quote {
                if letter == open { quote = nil } else { word.append(letter) }
            } else if letter == "'" || letter == "\"" {
                (quote, isOpen) = (letter, true)
            } else if letter.properties.isWhitespace {
                if isOpen || !word.isEmpty { words.append(String(word)) }
                (word, isOpen) = (String.UnicodeScalarView(), false)
            } else {
                word.append(letter)
            }
        }
        guard quote == nil else { return nil }
        if isOpen || !word.isEmpty { words.append(String(word)) }
        return words
    }

    /// `160 gibibytes`, for the ear: a letter would be read as a letter.
    func size(_ bytes: Int64) -> String {
        let text = units.size(bytes)
        let number = text.prefix { $0.isNumber || $0 == "." }
        let prefixes =
            units == .iec
            ? ["K": "kibi", "M": "mebi", "G": "gibi", "T": "tebi", "P": "pebi", "E": "exbi"]
            : ["k": "kilo", "M": "mega", "G": "giga", "T": "tera", "P": "peta", "E": "exa"]
        let prefix = text.dropFirst(number.count).first.flatMap { prefixes[String($0)] } ?? ""
        return "\(number) \(prefix)byte\(number == "1" ? "" : "s")"
    }

    static func time(_ seconds: Int64) -> String {
        switch max(0, seconds) {
        case ..<60: "\(max(0, seconds)) seconds"
        case ..<120: "1 minute"
        case ..<7200: "\(seconds / 60) minutes"
        case ..<172_800: "\(seconds / 3600) hours"
        default: "\(seconds / 86_400) days"
        }
    }
}
