/// Key sequences that are known as a whole: what terminfo says about this terminal, beside the forms that every
/// modern terminal sends and the decoder knows by their grammar.
struct KeyTable: Sendable {
    enum Match: Equatable {
        /// No sequence of the table begins like this.
        case none
        /// The beginning of at least one sequence.
        case beginning
        case key(KeyPress)
    }

    private var keys: [[UInt8]: KeyPress] = [:]
    private var beginnings: Set<[UInt8]> = []

    /// The function keys of the Linux console, whose `ESC [ [ A` the grammar would end after the second bracket.
    static let builtIn: KeyTable = {
        var table = KeyTable()
        for (number, final) in "ABCDE".utf8.enumerated() {
            table.add([0x1B, 0x5B, 0x5B, final], KeyPress(.function(number + 1)))
        }
        return table
    }()

    /// Adds a sequence. Left out are those that could be mistaken for typing (shorter than three bytes, not beginning
    /// with an escape), those of other duties, and those that begin with a known one or the other way round: so that
    /// no key ever has to wait for a longer one.
    mutating func add(_ sequence: [UInt8], _ press: KeyPress) {
        guard sequence.count >= 3, sequence[0] == 0x1B, sequence[1] != 0x1B else { return }
        guard !Self.reserved.contains(where: { sequence.starts(with: $0) || $0.starts(with: sequence) }) else { return }
        let prefixes = (1..<sequence.count).map { Array(sequence[..<$0]) }
        guard !beginnings.contains(sequence), !prefixes.contains(where: { keys[$0] != nil }) else { return }
        keys[sequence] = keys[sequence] ?? press
        beginnings.formUnion(prefixes)
    }

    func match(_ sequence: [UInt8]) -> Match {
        if let press = keys[sequence] { return .key(press) }
        return beginnings.contains(sequence) ? .beginning : .none
    }

    /// Mouse reports, the marks of a paste, focus.
    private static let reserved: [[UInt8]] = ["\u{1B}[<", "\u{1B}[200~", "\u{1B}[201~", "\u{1B}[I", "\u{1B}[O"]
        .map { Array($0.utf8) }
}
