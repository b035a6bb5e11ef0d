/// The syntax of one kind of value: its placeholder in a synopsis, the allowed values in a message, its completion in a
/// shell, and its reader. Options, operands and settings all use these, so that `8M` means one thing.
package struct ValueSyntax<Value: Sendable>: Sendable {
    /// Stands for the value in help and manual: `SIZE`.
    package var placeholder: String
    /// Continues "give …" in the message about a bad value.
    package var allowed: String
    package var completion: ValueCompletion
    /// True when such a value may be a secret: no message repeats it.
    package var isSecret = false
    /// Reads the bytes given; `nil` when they are not such a value. Bytes, because a path need not be UTF-8.
    package var read: @Sendable ([UInt8]) -> Value?

    package init(
        _ placeholder: String, allowed: String, completion: ValueCompletion = .nothing,
        read: @escaping @Sendable ([UInt8]) -> Value?
    ) {
        self.placeholder = placeholder
        self.allowed = allowed
        self.completion = completion
        self.read = read
    }

    /// A kind of value that is text.
    package init(
        _ placeholder: String, allowed: String, completion: ValueCompletion = .nothing,
        readText: @escaping @Sendable (String) -> Value?
    ) {
        self.init(placeholder, allowed: allowed, completion: completion) { bytes in
            String(validating: bytes, as: UTF8.self).flatMap(readText)
        }
    }

    /// The same kind, whose values may be secrets.
    package var secret: ValueSyntax {
        var secret = self
        secret.isSecret = true
        return secret
    }

    /// The same kind under another name in the synopsis.
    package func named(_ placeholder: String) -> ValueSyntax {
        var renamed = self
        renamed.placeholder = placeholder
        return renamed
    }
}

/// The completions that a shell may offer for a value.
package enum ValueCompletion: Equatable, Sendable {
    case nothing
    case words([String])
    /// Several of the words, separated by commas.
    case wordList([String])
    case files
    case directories
    /// Batches as `martlet list` prints them.
    case identifiers
    /// Programs in PATH.
    case commands
}

extension ValueSyntax where Value == ByteSize {
    /// `512K`, `8M`, `2G`, inside the range.
    package static func size(in range: ClosedRange<ByteSize> = ByteSize(bytes: 0)...ByteSize(bytes: .max))
        -> ValueSyntax
    {
        let whole = range.upperBound.bytes == .max && range.lowerBound.bytes <= 1
        let bounds = whole ? "" : ", from \(range.lowerBound.written) to \(range.upperBound.written)"
        return ValueSyntax("SIZE", allowed: "a size such as 512K, 8M or 2G" + bounds) { text in
            ByteSize(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension ValueSyntax where Value == RateLimit {
    /// `512K`, `8M`, `off`.
    package static var rate: ValueSyntax {
        ValueSyntax("RATE", allowed: "bytes a second such as 512K or 8M, or off") { RateLimit($0) }
    }
}

extension ValueSyntax where Value == TimeSpan {
    /// `30s`, `5m`, `2h`, `7d`.
    package static var duration: ValueSyntax {
        ValueSyntax("DURATION", allowed: "a duration such as 30s, 5m, 2h or 7d") { TimeSpan($0) }
    }
}

extension ValueSyntax where Value == Int {
    /// A whole number inside the range.
    package static func count(_ range: ClosedRange<Int>) -> ValueSyntax {
        let bounds =
            range.upperBound == .max
            ? "of at least \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
        return ValueSyntax("N", allowed: "a whole number \(bounds)") { text in
            guard text.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
            return Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension ValueSyntax where Value == Bool {
    /// `on` or `off`, and what people write instead of them.
    package static var onOff: ValueSyntax {
        ValueSyntax("on|off", allowed: "on or off", completion: .words(["on", "off"])) { text in
            switch text.lowercased() {
            case "on", "yes", "true", "1": true
            case "off", "no", "false", "0": false
            default: nil
            }
        }
    }
}

extension ValueSyntax where Value == String {
    /// Any text that is not empty.
    package static func text(_ placeholder: String, _ completion: ValueCompletion = .nothing) -> ValueSyntax {
        ValueSyntax(placeholder, allowed: "some UTF-8 text", completion: completion) { $0.isEmpty ? nil : $0 }
    }
}

extension ValueSyntax where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of an enumeration's words.
    /// - Parameter shown: those that help and completions name, when the others are refused later.
    package static func choice(_: Value.Type = Value.self, shown: [Value]? = nil) -> ValueSyntax {
        let words = shown.map { $0.map(\.rawValue) } ?? Value.allCases.map(\.rawValue)
        return ValueSyntax(
            words.joined(separator: "|"), allowed: alternatives(words), completion: .words(words)
        ) { Value(rawValue: $0) }
    }
}

extension ValueSyntax {
    /// Several of an enumeration's words, separated by commas.
    package static func choices<Word: RawRepresentable & CaseIterable & Sendable>(_ placeholder: String, _: Word.Type)
        -> ValueSyntax where Value == [Word], Word.RawValue == String
    {
        let words = Word.allCases.map(\.rawValue)
        return ValueSyntax(
            "\(placeholder)[,\(placeholder)]",
            allowed: "one or more of \(words.joined(separator: ", ")), separated by commas",
            completion: .wordList(words)
        ) { text in
            let found = text.split(separator: ",", omittingEmptySubsequences: false).map { Word(rawValue: String($0)) }
            return found.contains(where: { $0 == nil }) ? nil : found.compactMap(\.self)
        }
    }
}

/// `a`, `a or b`, `a, b or c`.
package func alternatives(_ words: [String]) -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " or " + last
}
