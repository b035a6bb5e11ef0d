/// The meaning of the escape sequences of terminals: ECMA-48's forms, as xterm, rxvt, tmux, screen and the VTE family
/// send them, in normal and in application mode.
enum SequenceGrammar {
    enum Meaning: Equatable {
        case input(Input)
        case pasteBegins
        /// The beginning of a string that goes up to BEL or ESC \.
        case answerBegins
        /// `ESC [ M`: three bytes follow.
        case oldMouse
        /// Understood and of no interest: releases, late answers.
        case ignored
        case unknown
    }

    enum Step: Equatable {
        case unfinished
        case finished(Meaning)
        /// ESC and a key: that key with Alt.
        case alt
        /// The last byte does not belong to the sequence.
        case broken
    }

    /// Looks at a sequence that begins with ESC and to which the last byte was just added.
    static func step(_ bytes: [UInt8]) -> Step {
        let last = bytes[bytes.count - 1]
        switch (bytes.count, bytes[1]) {
        case (2, 0x5B), (2, 0x4F), (2, 0x5D), (2, 0x50), (2, 0x5F): return .unfinished
        case (2, KeyDecoder.escape): return .broken
        case (2, _): return .alt
        case (_, 0x5B): return controlSequence(bytes, last)
        case (_, 0x4F): return singleShift(bytes, last)
        default: return startsAnswer(introducer: bytes[1], first: last) ? .finished(.answerBegins) : .broken
        }
    }

    /// Returns true when a string begins like the answers terminals give: colours and titles (OSC), settings and names
    /// (DCS), pictures (APC). Otherwise somebody pressed Alt with a bracket.
    private static func startsAnswer(introducer: UInt8, first: UInt8) -> Bool {
        switch introducer {
        case 0x5D: 0x30...0x39 ~= first
        case 0x50: 0x30...0x39 ~= first || "$+>!|".utf8.contains(first)
        default: first == UInt8(ascii: "G")
        }
    }

    /// ESC O, perhaps a digit for the modifiers, and a letter.
    private static func singleShift(_ bytes: [UInt8], _ last: UInt8) -> Step {
        switch last {
        case 0x30...0x39 where bytes.count < 6: return .unfinished
        case 0x20...0x7E: break
        default: return .broken
        }
        let parameters = Parameters(bytes[2..<(bytes.count - 1)])
        let modifiers = parameters.modifiers(at: 0) ?? []
        if let key = letterKey(last) ?? keypadKey(last) { return .finished(.input(.key(KeyPress(key, modifiers)))) }
        return .finished(.unknown)
    }

    private static func controlSequence(_ bytes: [UInt8], _ last: UInt8) -> Step {
        switch last {
        case 0x20...0x3F: .unfinished
        case 0x40...0x7E: .finished(meaning(of: bytes[2..<(bytes.count - 1)], final: last))
        default: .broken
        }
    }

    /// The meaning of a complete ESC [ … sequence.
    private static func meaning(of body: ArraySlice<UInt8>, final: UInt8) -> Meaning {
        if body.first == 0x3C { return mouse(Parameters(body.dropFirst()), final) }
        // Private answers (`?…c`, `>…c`, `?…$y`, `?…u`) and anything with intermediate bytes.
        if let first = body.first, 0x3D...0x3F ~= first { return .ignored }
        if body.contains(where: { 0x20...0x2F ~= $0 }) { return .ignored }
        let parameters = Parameters(body)
        switch final {
        case UInt8(ascii: "~"), UInt8(ascii: "^"), UInt8(ascii: "@"): return numbered(parameters, final)
        case UInt8(ascii: "u"): return coded(parameters.value(0, or: 0), parameters.modifiers(at: 1))
        case UInt8(ascii: "M") where body.isEmpty: return .oldMouse
        case UInt8(ascii: "I") where body.isEmpty: return .input(.focus(true))
        case UInt8(ascii: "O") where body.isEmpty: return .input(.focus(false))
        case UInt8(ascii: "Z"): return .input(.key(KeyPress(.tab, .shift)))
        case UInt8(ascii: "R") where parameters.count > 1 && parameters.value(0, or: 1) != 1: return .ignored
        case UInt8(ascii: "c"), UInt8(ascii: "n"), UInt8(ascii: "t"), UInt8(ascii: "y"):
            if !body.isEmpty { return .ignored }
        default: break
        }
        if let key = letterKey(final) {
            guard let modifiers = parameters.modifiers(at: 1) else { return .ignored }
            return .input(.key(KeyPress(key, modifiers)))
        }
        // rxvt: lower-case letters are arrows with Shift.
        if body.isEmpty, 0x61...0x64 ~= final, let key = letterKey(final - 0x20) {
            return .input(.key(KeyPress(key, .shift)))
        }
        return .unknown
    }

    /// `ESC [ number ; modifiers ~`, and rxvt's endings for Ctrl and Ctrl-Shift.
    private static func numbered(_ parameters: Parameters, _ final: UInt8) -> Meaning {
        guard var modifiers = parameters.modifiers(at: 1) else { return .ignored }
        if final == UInt8(ascii: "^") { modifiers.insert(.control) }
        if final == UInt8(ascii: "@") { modifiers.formUnion([.control, .shift]) }
        let number = parameters.value(0, or: 0)
        switch number {
        case 27: return coded(parameters.value(2, or: 0), modifiers)
        case 200: return .pasteBegins
        case 201: return .ignored
        default: break
        }
        guard let key = numberedKeys[number] else { return .unknown }
        return .input(.key(KeyPress(key, modifiers)))
    }

    /// A key by its character's number, as terminals with extended keyboards send it.
    private static func coded(_ code: Int, _ modifiers: Modifiers?) -> Meaning {
        guard let modifiers else { return .ignored }
        let key: Key
        switch code {
        case 9: key = .tab
        case 13: key = .enter
        case 27: key = .escape
        case 8, 127: key = .backspace
        // Private use: keys that have no character, such as a modifier alone.
        case 0..<0x20, 0x80..<0xA0, 0xE000..<0xF900: return .ignored
        default:
            guard let scalar = Unicode.Scalar(UInt32(code)) else { return .ignored }
            key = .character(scalar)
        }
        return .input(.key(KeyPress(key, modifiers)))
    }

    /// `ESC [ < button ; column ; row M` (1006). `m` is a release.
    private static func mouse(_ parameters: Parameters, _ final: UInt8) -> Meaning {
        let code = parameters.value(0, or: 0)
        let isMotion = code & 32 != 0
        guard final == UInt8(ascii: "M"), parameters.count == 3, !isMotion else { return .ignored }
        let button: MousePress.Button
        switch (code & 0b1100_0000, code & 0b11) {
        case (0, 0): button = .left
        case (0, 1): button = .middle
        case (0, 2): button = .right
        case (64, 0): button = .wheelUp
        case (64, 1): button = .wheelDown
        default: return .ignored
        }
        var modifiers: Modifiers = []
        if code & 4 != 0 { modifiers.insert(.shift) }
        if code & 8 != 0 { modifiers.insert(.alt) }
        if code & 16 != 0 { modifiers.insert(.control) }
        let position = Position(
            row: max(0, parameters.value(2, or: 1) - 1), column: max(0, parameters.value(1, or: 1) - 1))
        return .input(.mouse(MousePress(button, at: position, modifiers)))
    }

    private static func letterKey(_ final: UInt8) -> Key? {
        switch final {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        case UInt8(ascii: "H"): .home
        case UInt8(ascii: "F"): .end
        case UInt8(ascii: "P"): .function(1)
        case UInt8(ascii: "Q"): .function(2)
        case UInt8(ascii: "R"): .function(3)
        case UInt8(ascii: "S"): .function(4)
        default: nil
        }
    }

    /// The keypad in application mode: ESC O and a letter that is the key's character plus 64.
    private static func keypadKey(_ final: UInt8) -> Key? {
        switch final {
        case UInt8(ascii: "M"): .enter
        case UInt8(ascii: "I"): .tab
        case UInt8(ascii: "X"): .character("=")
        case UInt8(ascii: " "): .character(" ")
        case 0x6A...0x79: .character(Unicode.Scalar(final - 0x40))
        default: nil
        }
    }

    private static let numberedKeys: [Int: Key] = {
        var keys: [Int: Key] = [
            1: .home, 2: .insert, 3: .delete, 4: .end, 5: .pageUp, 6: .pageDown, 7: .home, 8: .end,
        ]
        // The numbers of F1 to F20 have gaps where the VT220 keyboard had them.
        let functions = [11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 23, 24, 25, 26, 28, 29, 31, 32, 33, 34]
        for (index, number) in functions.enumerated() { keys[number] = .function(index + 1) }
        return keys
    }()
}

/// The numbers of a sequence, between semicolons. A number may have parts behind colons: `5:3` is Ctrl, released.
struct Parameters {
    private let fields: [[Int?]]

    init(_ body: ArraySlice<UInt8>) {
        fields = body.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map { field in
            field.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map(Self.number)
        }
    }

    var count: Int { fields.count }

    func value(_ index: Int, or missing: Int) -> Int {
        (index < fields.count ? fields[index][0] : nil) ?? missing
    }

    /// The modifiers a field holds, none when it is missing; nil for the release of a key.
    func modifiers(at index: Int) -> Modifiers? {
        if index < fields.count, fields[index].count > 1, fields[index][1] == 3 { return nil }
        let bits = max(0, value(index, or: 1) - 1)
        return Modifiers(rawValue: UInt8(truncatingIfNeeded: bits & 7))
    }

    /// No number that matters is longer than seven digits; a longer one is as good as that.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard !digits.isEmpty else { return nil }
        return digits.prefix(7).reduce(0) { $0 * 10 + Int(0x30...0x39 ~= $1 ? $1 - 0x30 : 0) }
    }
}
