import DisplayText
import MartletKit

/// A word of a command: any bytes but NUL.
struct ShellWord: Hashable, Sendable, ExpressibleByStringLiteral {
    var bytes: [UInt8]
    /// True when a path below the home folder is written as `~/…`.
    var isPath = false

    init(_ text: String) { bytes = Array(text.utf8) }
    init(stringLiteral text: String) { self.init(text) }
    init(path: [UInt8]) { (bytes, isPath) = (path, true) }

    /// So that a shell reads exactly these bytes.
    /// - Parameter home: is written as `~`.
    func quoted(home: [UInt8], _ characters: CharacterSet = .utf8) -> [UInt8] {
        let (start, rest) = parts(home: home)
        return rest.isEmpty && !start.isEmpty ? start : start + ShellCommand.quoted(rest, characters)
    }

    /// `~/`, and what stands behind it.
    fileprivate func parts(home: [UInt8]) -> (start: [UInt8], rest: [UInt8]) {
        let prefix = home + [UInt8(ascii: "/")]
        guard isPath, home.count > 1, bytes.starts(with: prefix) else { return ([], bytes) }
        return (Array("~/".utf8), Array(bytes.dropFirst(prefix.count)))
    }
}

/// A command for a POSIX shell, in as many lines as a screen needs: copied from there it runs as it stands.
struct ShellCommand: Sendable {
    /// One line, without its end.
    struct Line: Hashable, Sendable {
        var bytes: [UInt8]
        /// It goes on inside a word: no blank may stand before it.
        var isInsideWord = false
    }

    private(set) var words: [ShellWord]
    let home: [UInt8]
    /// The characters that the screen can show.
    var characters = CharacterSet.utf8

    /// All of it in one.
    var line: [UInt8] { Array(words.map { $0.quoted(home: home, characters) }.joined(separator: [0x20])) }

    private static let backslash = UInt8(ascii: "\\")

    /// The same in so many lines, as far as leaving paths out and dots in their place helps: then it is to be read, not to be copied.
    func lines(width: Int, indent: Int = 0, atMost most: Int) -> [Line] {
        let paths = words.indices.filter { words[$0].isPath }
        func lines(keeping count: Int) -> [Line] {
            guard count < paths.count else { return self.lines(width: width, indent: indent) }
            let left = Set(paths[(count + 1)...])
            var shorter = self
            shorter.words[paths[count]] = "..."
            shorter.words = shorter.words.indices.filter { !left.contains($0) }.map { shorter.words[$0] }
            return shorter.lines(width: width, indent: indent)
        }
        // How many have room is found by halves: a command may have thousands, and this is drawn at each key.
        var (fits, more) = (1, paths.count + 1)
        while more - fits > 1 {
            let middle = (fits + more) / 2
            if lines(keeping: middle).count <= most { fits = middle } else { more = middle }
        }
        return lines(keeping: fits)
    }

    /// - Parameter width: cells that a line has; those inside a word have `indent` more.
    func lines(width: Int, indent: Int = 0) -> [Line] {
        var lines: [Line] = []
        var line = Line(bytes: [])
        var used = 0
        func end(_ mark: [UInt8]) {
            lines.append(Line(bytes: line.bytes + mark, isInsideWord: line.isInsideWord))
            (line, used) = (Line(bytes: []), 0)
        }
        for (index, word) in words.enumerated() {
            let quoted = word.quoted(home: home, characters)
            let cells = Self.width(quoted)
            // Room for the mark that the command goes on.
            let room = width - (index == words.count - 1 ? 0 : 2)
            if !line.bytes.isEmpty, used + 1 + cells <= room {
                line.bytes += [0x20] + quoted
                used += 1 + cells
                continue
            }
            if !line.bytes.isEmpty { end([0x20, Self.backslash]) }
            if cells <= room {
                (line.bytes, used) = (quoted, cells)
                continue
            }
            let pieces = pieces(of: word, width: max(8, width - 3))
            for (number, piece) in pieces.enumerated() {
                line = Line(bytes: piece, isInsideWord: number > 0)
                used = Self.width(piece) + (number > 0 ? -indent : 0)
                if number < pieces.count - 1 { end([Self.backslash]) }
            }
        }
        if !line.bytes.isEmpty { lines.append(line) }
        return lines
    }

    /// A word that is wider than a line, in pieces that a shell puts together again: each is quoted for itself.
    private func pieces(of word: ShellWord, width: Int) -> [[UInt8]] {
        let (start, rest) = word.parts(home: home)
        var pieces: [[UInt8]] = []
        var raw: [UInt8] = []
        var quoted: [UInt8] = []
        func whole() -> [UInt8] { pieces.isEmpty ? start + quoted : quoted }
        for character in Self.characters(rest) {
            let longer = Self.quoted(raw + character, characters)
            if !raw.isEmpty, Self.width((pieces.isEmpty ? start : []) + longer) > width {
                pieces.append(whole())
                (raw, quoted) = (character, Self.quoted(character, characters))
            } else {
                (raw, quoted) = (raw + character, longer)
            }
        }
        pieces.append(whole())
        return pieces
    }

    /// Splits the bytes into characters, which must stay together; into single bytes where they are not UTF-8.
    private static func characters(_ bytes: [UInt8]) -> [[UInt8]] {
        guard let text = String(validating: bytes, as: UTF8.self) else { return bytes.map { [$0] } }
        return text.map { Array($0.utf8) }
    }

    private static func width(_ bytes: [UInt8]) -> Int { SafeText(bytes).width }

    // MARK: Quoting

    static func quoted(_ word: String) -> [UInt8] { quoted(Array(word.utf8)) }

    /// See `ShellQuoting`.
    static func quoted(_ word: [UInt8], _ characters: CharacterSet = .utf8) -> [UInt8] {
        ShellQuoting.word(word) { isSafe($0, characters) }
    }

    /// Nothing in it that a screen would show otherwise than it is.
    private static func isSafe(_ text: String, _ characters: CharacterSet) -> Bool {
        SafeText(text, characterSet: characters, limit: 1 << 20).string.utf8.elementsEqual(text.utf8)
    }
}
