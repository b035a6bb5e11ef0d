import MartletKit

/// Paths as people type and paste them: with quotes, backslashes and `~`, as `file://` URLs, one a line.
struct ShellWords: Sendable {
    /// The folder that `~` stands for.
    let home: [UInt8]

    /// The words of a line, as a shell would take them apart; `nil` when a quote is not closed. Nothing is ever
    /// executed or expanded but a `~` at the beginning of a word.
    func split(_ line: [UInt8]) -> [[UInt8]]? { taken(line)?.words }

    /// Patterns of names, quoted as in a shell, because one may have a blank in it; `nil` when a quote is not closed.
    static func patterns(_ text: String) -> [String]? {
        ShellWords(home: []).split(Array(text.utf8))?.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The word that is being typed at the end of `line`, and where it begins; `nil` within quotes.
    func lastWord(_ line: [UInt8]) -> (word: [UInt8], start: Int)? {
        guard !line.isEmpty, let (words, start) = taken(line) else { return nil }
        return (start < line.count ? words.last ?? [] : [], start)
    }

    /// The words of a line, and where the one begins that its end is in; the line's end where that is between words.
    private func taken(_ line: [UInt8]) -> (words: [[UInt8]], last: Int)? {
        var words: [[UInt8]] = []
        // Grows in place: a paste may be one word of megabytes.
        var word: [UInt8] = []
        var isInWord = false
        var isQuoted = false
        var start = 0
        var rest = line[...]
        func finish() {
            if isInWord { words.append(isQuoted ? word : expanded(word)) }
            (word, isInWord, isQuoted) = ([], false, false)
        }
        while let byte = rest.popFirst() {
            if !isInWord { start = rest.startIndex - 1 }
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D: finish()
            case UInt8(ascii: "'"), UInt8(ascii: "\""):
                if !isInWord { isQuoted = true }
                guard let content = Self.quoted(&rest, until: byte) else { return nil }
                word += content
                isInWord = true
            case UInt8(ascii: "\\"):
                guard let next = rest.popFirst() else { return nil }
                word.append(next)
                isInWord = true
            default:
                word.append(byte)
                isInWord = true
            }
        }
        let last = isInWord ? start : line.count
        finish()
        return (words, last)
    }

    /// Splits a paste into words: one path a line, or a line of quoted words as a file manager gives them.
    func pasted(_ bytes: [UInt8]) -> [[UInt8]] {
        bytes.split(separator: 0x0A).flatMap { line -> [[UInt8]] in
            let line = Self.trimmed(Array(line))
            if line.isEmpty { return [] }
            if let words = split(line), words.count > 0 {
                let isQuoted = line.contains(where: { $0 == 0x27 || $0 == 0x22 || $0 == 0x5C })
                let areRooted = words.allSatisfy { $0.first == UInt8(ascii: "/") }
                if isQuoted || words.count == 1 || areRooted { return words }
            }
            // A name with spaces, as it is.
            return [expanded(line)]
        }
    }

    /// A word as `split` reads it again.
    static func quote(_ word: [UInt8]) -> [UInt8] {
        let plain = { (byte: UInt8) in byte > 0x20 && byte != 0x7F && !#"'"\"#.utf8.contains(byte) }
        let isExpanded = word.first == UInt8(ascii: "~") || word.starts(with: "file://".utf8)
        if !word.isEmpty, word.allSatisfy(plain), !isExpanded { return word }
        let quote = UInt8(ascii: "'")
        let inside = word.flatMap { $0 == quote ? Array(#"'\''"#.utf8) : [$0] }
        return [quote] + inside + [quote]
    }

    private func expanded(_ word: [UInt8]) -> [UInt8] {
        let scheme = Array("file://".utf8)
        if word.starts(with: scheme) {
            let path = word.dropFirst(scheme.count).drop { $0 != UInt8(ascii: "/") }
            let decoded = PercentText.decoded(path)
            return decoded.contains(0) ? Array(path) : decoded
        }
        guard word.first == UInt8(ascii: "~"), word.count == 1 || word[1] == UInt8(ascii: "/") else { return word }
        return home + word.dropFirst()
    }

    private static func quoted(_ rest: inout ArraySlice<UInt8>, until end: UInt8) -> [UInt8]? {
        var content: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == end { return content }
            if byte == UInt8(ascii: "\\"), end == UInt8(ascii: "\""), let next = rest.first,
                #""\$`"#.utf8.contains(next)
            {
                content.append(rest.removeFirst())
            } else {
                content.append(byte)
            }
        }
        return nil
    }

    private static func trimmed(_ line: [UInt8]) -> [UInt8] {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D }
        return Array(line.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}
