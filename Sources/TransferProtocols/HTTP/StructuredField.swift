import DisplayText

/// Structured header fields (RFC 9651), as far as protocols here need them: integers, Booleans, and dictionaries with any items
/// in them. What breaks the syntax is `nil`, as the RFC wants: then the field is treated as absent.
enum StructuredField: Hashable, Sendable {
    case integer(Int64)
    case boolean(Bool)
    /// A decimal, string, token, date, byte sequence or list: well-formed, and of no use here.
    case other

    /// A field that is one integer.
    static func integer(_ text: String) -> Int64? {
        if case .integer(let value)? = item(text) { return value }
        return nil
    }

    /// A field that is one Boolean, `?0` or `?1`.
    static func boolean(_ text: String) -> Bool? {
        if case .boolean(let value)? = item(text) { return value }
        return nil
    }

    /// A field that is a dictionary; of a key that comes twice the last counts.
    static func dictionary(_ text: String) -> [String: StructuredField]? {
        var parser = Parser(text)
        return parser.dictionary()
    }

    private static func item(_ text: String) -> StructuredField? {
        var parser = Parser(text)
        return parser.wholeItem()
    }

    /// RFC 9651 section 4.2, by its steps. Each function begins at the next byte and returns `nil` for a broken syntax.
    private struct Parser {
        private var rest: ArraySlice<UInt8>

        init(_ text: String) {
            rest = Array(text.utf8)[...]
            skip { $0 == UInt8(ascii: " ") }
        }

        mutating func wholeItem() -> StructuredField? {
            guard let item = item(), parameters() else { return nil }
            skip { $0 == UInt8(ascii: " ") }
            return rest.isEmpty ? item : nil
        }

        mutating func dictionary() -> [String: StructuredField]? {
            var members: [String: StructuredField] = [:]
            while !rest.isEmpty {
                guard let key = key() else { return nil }
                var value = StructuredField.boolean(true)
                if take("=") {
                    guard let given = rest.first == UInt8(ascii: "(") ? innerList() : item() else { return nil }
                    value = given
                }
                guard parameters() else { return nil }
                members[key] = value
                skip(Self.isBlank)
                if rest.isEmpty { return members }
                guard take(",") else { return nil }
                skip(Self.isBlank)
                // A comma with nothing behind it.
                if rest.isEmpty { return nil }
            }
            return members
        }

        private mutating func innerList() -> StructuredField? {
            guard take("(") else { return nil }
            while true {
                skip { $0 == UInt8(ascii: " ") }
                if take(")") { return .other }
                guard item() != nil, parameters() else { return nil }
                guard rest.first == UInt8(ascii: " ") || rest.first == UInt8(ascii: ")") else { return nil }
            }
        }

        private mutating func parameters() -> Bool {
            while take(";") {
                skip { $0 == UInt8(ascii: " ") }
                guard key() != nil else { return false }
                if take("="), item() == nil { return false }
            }
            return true
        }

        private mutating func key() -> String? {
            guard let first = rest.first, Self.isLower(first) || first == UInt8(ascii: "*") else { return nil }
            let bytes = taking { Self.isLower($0) || Self.isDigit($0) || "_-.*".utf8.contains($0) }
            return String(peer: bytes)
        }

        private mutating func item() -> StructuredField? {
            guard let first = rest.first else { return nil }
            switch first {
            case UInt8(ascii: "?"):
                rest = rest.dropFirst()
                if take("1") { return .boolean(true) }
                return take("0") ? .boolean(false) : nil
            case UInt8(ascii: "\""): return string()
            case UInt8(ascii: ":"):
                rest = rest.dropFirst()
                _ = taking { $0 != UInt8(ascii: ":") }
                return take(":") ? .other : nil
            case UInt8(ascii: "@"):
                rest = rest.dropFirst()
                if case .integer? = number() { return .other }
                return nil
            case _ where Self.isDigit(first) || first == UInt8(ascii: "-"): return number()
            case _ where Self.isLetter(first) || first == UInt8(ascii: "*"):
                _ = taking { Self.isLetter($0) || Self.isDigit($0) || "!#$%&'*+-.^_`|~:/".utf8.contains($0) }
                return .other
            default: return nil
            }
        }

        private mutating func number() -> StructuredField? {
            let sign: Int64 = take("-") ? -1 : 1
            let digits = taking(Self.isDigit)
            guard !digits.isEmpty else { return nil }
            if take(".") {
                let fraction = taking(Self.isDigit)
                return digits.count <= 12 && (1...3).contains(fraction.count) ? .other : nil
            }
            // Fifteen digits always fit.
            guard digits.count <= 15, let value = Int64(String(peer: digits)) else { return nil }
            return .integer(sign * value)
        }

        private mutating func string() -> StructuredField? {
            rest = rest.dropFirst()
            while let byte = rest.popFirst() {
                switch byte {
                case UInt8(ascii: "\""): return .other
                case UInt8(ascii: "\\"):
                    guard take("\"") || take("\\") else { return nil }
                case 32...126: continue
                default: return nil
                }
            }
            return nil
        }

        // MARK: Bytes

        private mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest = rest.dropFirst()
            return true
        }

        private mutating func taking(_ isWanted: (UInt8) -> Bool) -> ArraySlice<UInt8> {
            let taken = rest.prefix(while: isWanted)
            rest = rest[taken.endIndex...]
            return taken
        }

        private mutating func skip(_ isUnwanted: (UInt8) -> Bool) { _ = taking(isUnwanted) }

        private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == 9 }
        private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
        private static func isLower(_ byte: UInt8) -> Bool { (97...122).contains(byte) }
        private static func isLetter(_ byte: UInt8) -> Bool { isLower(byte | 32) }
    }
}
