import TransferModel

/// The bounds of all numbers that an engine tells its clients: counts, sizes, speeds, identifiers. None of them is negative.
///
/// An engine may be elsewhere, and hostile. Who reads its lines adds and multiplies what they say and chooses cells by it. So each number
/// is put within the bounds in one place, before the line is decoded, and a field that is added later is safe, too.
package enum ToldNumbers {
    /// Exact in JSON. A thousand of them can be added, and each can be multiplied by a thousand.
    package static let bounds: ClosedRange<Int64> = 0...FileSize.largest

    /// The same line with each number outside of the bounds put at the nearer one; all other bytes stay. Empty when it is no UTF-8:
    /// Foundation would read UTF-16, too, whose digits do not stand side by side.
    package static func within(_ line: [UInt8]) -> [UInt8] {
        var mended: [UInt8] = []
        // All bytes before it are in `mended`.
        var copied = 0
        var place = 0
        while place < line.count {
            switch line[place] {
            case UInt8(ascii: "\""): place = endOfString(line, from: place)
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                let start = place
                repeat { place += 1 } while place < line.count && isOfNumber(line[place])
                if let bound = bound(for: line[start..<place]) {
                    mended += line[copied..<start]
                    mended += Array(String(bound).utf8)
                    copied = place
                }
            case 0: return []
            default: place += 1
            }
        }
        if copied == 0 { return line }
        mended += line[copied...]
        return mended
    }

    /// The place behind the string that begins with a quote.
    private static func endOfString(_ line: [UInt8], from quote: Int) -> Int {
        var place = quote + 1
        while place < line.count {
            switch line[place] {
            case UInt8(ascii: "\""): return place + 1
            case UInt8(ascii: "\\"): place += 2
            default: place += 1
            }
        }
        return line.count
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "-"),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    /// The bound that a number has reached or passed; `nil`: it lies between them, or is none.
    private static func bound(for digits: ArraySlice<UInt8>) -> Int64? {
        let isNegative = digits.first == UInt8(ascii: "-")
        let hasExponent = digits.contains(UInt8(ascii: "e")) || digits.contains(UInt8(ascii: "E"))
        // So few digits are below the bound.
        if !isNegative, !hasExponent, digits.count <= 15 { return nil }
        guard let number = Double(String(decoding: digits, as: UTF8.self)) else { return nil }
        if number < Double(bounds.lowerBound) { return bounds.lowerBound }
        return number >= Double(bounds.upperBound) ? bounds.upperBound : nil
    }
}
