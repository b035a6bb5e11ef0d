/// Turns the bytes of a terminal into keys, mouse presses and pastes. A value without a clock: the caller says when
/// bytes came and asks for the next deadline, so nothing ever blocks and every delay can be tested.
///
/// The same bytes give the same input wherever a slow line cuts them. Times matter only where they must:
/// - Esc alone is a key when nothing follows it for `Limits.escape`.
/// - An unfinished sequence is kept for `Limits.join`; then it is dropped, never typed.
/// - When a line was so slow that Esc was reported already, `[` or `O` within `Limits.join` and what follows are still
///   taken for the sequence that was meant: Left must not become the letter D.
package struct KeyDecoder: Sendable {
    package struct Limits: Sendable {
        /// The time that Esc waits for the rest of a sequence.
        package var escape: Duration = .milliseconds(25)
        /// The time that the rest of a sequence may take.
        package var join: Duration = .milliseconds(500)
        /// The time that a paste may be silent before it counts as broken off.
        package var pasteSilence: Duration = .seconds(2)
        /// Bytes of one paste that are kept.
        package var pasteBytes = 16 << 20

        package init() {}
    }

    /// The state of the decoder: what the bytes so far may become.
    enum State: Sendable {
        /// Nothing is begun. Any state may follow.
        case ground
        /// A character of which `missing` bytes are to come. Then ground.
        case character(bits: UInt32, smallest: UInt32, missing: Int, Modifiers)
        /// Begins with ESC and is not finished. `reported`: the Esc was given out as a key already.
        case sequence([UInt8], reported: Bool)
        /// A sequence too long to be one; ends with its final byte.
        case overlongSequence
        /// The three bytes behind the old mouse report `ESC [ M`, which we never ask for.
        case oldMouse(missing: Int)
        /// The terminal's answer to a question somebody asked: swallowed up to BEL or ESC \.
        case answer(sawEscape: Bool)
        /// Between the two marks of a paste. Ground follows its end mark.
        case paste(PasteCollector)
    }

    var state = State.ground
    var output: [Input] = []
    private let table: KeyTable
    private let limits: Limits
    /// When the last byte came.
    private var latest: ContinuousClock.Instant?
    /// When an Esc was reported that nothing has followed yet.
    private var freshEscape: ContinuousClock.Instant?

    static let escape: UInt8 = 0x1B
    private static let longestSequence = 64

    package init(limits: Limits = Limits()) { self.init(table: .builtIn, limits: limits) }

    init(table: KeyTable, limits: Limits) {
        self.table = table
        self.limits = limits
    }

    /// The same decoder with nothing begun, for coming back to a terminal that somebody else has read meanwhile.
    func restarted() -> KeyDecoder { KeyDecoder(table: table, limits: limits) }

    /// When `expire` must be called if no byte comes before; nil while nothing is begun.
    package var nextDeadline: ContinuousClock.Instant? {
        guard let latest, let patience else { return nil }
        return latest + patience
    }

    /// Takes bytes as they came and returns what they complete.
    package mutating func feed(_ bytes: some Sequence<UInt8>, at now: ContinuousClock.Instant) -> [Input] {
        giveUp(at: now)
        for byte in bytes {
            take(byte, at: now)
            latest = now
        }
        defer { output = [] }
        return output
    }

    /// Gives up waiting where the deadline has passed.
    package mutating func expire(at now: ContinuousClock.Instant) -> [Input] {
        giveUp(at: now)
        defer { output = [] }
        return output
    }

    private var patience: Duration? {
        switch state {
        case .ground: nil
        case .paste: limits.pasteSilence
        case .sequence(let bytes, let reported) where bytes.count == (reported ? 2 : 1): limits.escape
        case .character, .sequence, .overlongSequence, .oldMouse, .answer: limits.join
        }
    }

    private mutating func giveUp(at now: ContinuousClock.Instant) {
        guard let deadline = nextDeadline, now >= deadline else { return }
        let begun = state
        state = .ground
        switch begun {
        case .paste(var collector): output.append(.paste(collector.abandoned()))
        case .sequence([Self.escape], _):
            freshEscape = deadline
            output.append(.key(KeyPress(.escape)))
        case .sequence(let bytes, let reported): abandon(bytes, reported: reported)
        case .ground, .character, .overlongSequence, .oldMouse, .answer: break
        }
    }

    private mutating func take(_ byte: UInt8, at now: ContinuousClock.Instant) {
        switch state {
        case .ground: begin(byte, at: now)
        case .character(let bits, let smallest, let missing, let modifiers):
            guard byte & 0xC0 == 0x80 else { return again(byte, at: now) }
            let bits = bits << 6 | UInt32(byte & 0x3F)
            state = missing == 1 ? .ground : .character(bits: bits, smallest: smallest, missing: missing - 1, modifiers)
            if missing == 1 { typed(bits, smallest, modifiers) }
        case .sequence(let bytes, let reported): extend(bytes, byte, reported, at: now)
        case .overlongSequence:
            switch byte {
            case 0x20...0x3F: break
            case 0x40...0x7E: state = .ground
            default: again(byte, at: now)
            }
        case .oldMouse(let missing):
            guard byte >= 0x20 else { return again(byte, at: now) }
            state = missing == 1 ? .ground : .oldMouse(missing: missing - 1)
        case .answer(sawEscape: true):
            state = .ground
            guard byte != 0x5C else { return }
            state = .sequence([Self.escape], reported: false)
            take(byte, at: now)
        case .answer(sawEscape: false):
            if byte == Self.escape {
                state = .answer(sawEscape: true)
            } else if byte == 0x07 {
                state = .ground
            } else if byte < 0x20 {
                again(byte, at: now)
            }
        case .paste(var collector):
            // Two references would copy all that was pasted with every byte.
            state = .ground
            if collector.take(byte) {
                output.append(.paste(collector.finished()))
            } else {
                state = .paste(collector)
            }
        }
    }

    /// Drops the unfinished sequence and takes the byte as the beginning of something new.
    private mutating func again(_ byte: UInt8, at now: ContinuousClock.Instant) {
        state = .ground
        take(byte, at: now)
    }

    private mutating func begin(_ byte: UInt8, at now: ContinuousClock.Instant) {
        if let escaped = freshEscape {
            freshEscape = nil
            if byte == 0x5B || byte == 0x4F, now - escaped < limits.join {
                state = .sequence([Self.escape, byte], reported: true)
                return
            }
        }
        if byte == Self.escape { state = .sequence([byte], reported: false) } else { type(byte, []) }
    }

    private mutating func extend(_ begun: [UInt8], _ byte: UInt8, _ reported: Bool, at now: ContinuousClock.Instant) {
        let bytes = begun + [byte]
        switch table.match(bytes) {
        case .key(let press):
            state = .ground
            output.append(.key(press))
            return
        case .beginning:
            state = .sequence(bytes, reported: reported)
            return
        case .none: break
        }
        switch SequenceGrammar.step(bytes) {
        case .unfinished:
            let isTooLong = bytes.count > Self.longestSequence
            state = isTooLong ? .overlongSequence : .sequence(bytes, reported: reported)
        case .finished(let meaning):
            state = .ground
            perform(meaning, bytes, reported)
        case .alt:
            state = .ground
            type(byte, .alt)
        case .broken:
            state = .ground
            abandon(begun, reported: reported)
            take(byte, at: now)
        }
    }

    private mutating func perform(_ meaning: SequenceGrammar.Meaning, _ bytes: [UInt8], _ reported: Bool) {
        switch meaning {
        case .input(let input): output.append(input)
        case .pasteBegins: state = .paste(PasteCollector(limit: limits.pasteBytes))
        case .answerBegins: state = .answer(sawEscape: false)
        case .oldMouse: state = .oldMouse(missing: 3)
        case .ignored: break
        case .unknown:
            // Behind an Esc that was a key, this may be just typing.
            if reported { retype(bytes) }
        }
    }

    /// The sequence ends here and is none.
    private mutating func abandon(_ bytes: [UInt8], reported: Bool) {
        if reported {
            retype(bytes)
        } else if bytes == [Self.escape] {
            output.append(.key(KeyPress(.escape)))
        } else if bytes.count == 2 {
            type(bytes[1], .alt)
        }
    }

    private mutating func retype(_ bytes: [UInt8]) {
        for byte in bytes.dropFirst() { type(byte, []) }
    }

    /// A byte that is a key by itself, or begins a character.
    private mutating func type(_ byte: UInt8, _ modifiers: Modifiers) {
        switch byte {
        case 0x09: output.append(.key(KeyPress(.tab, modifiers)))
        case 0x0D: output.append(.key(KeyPress(.enter, modifiers)))
        case 0x08, 0x7F: output.append(.key(KeyPress(.backspace, modifiers)))
        case 0x00: output.append(.key(KeyPress(.character(" "), modifiers.union(.control))))
        case 0x01...0x1A:
            output.append(.key(KeyPress(.character(Unicode.Scalar(byte + 0x60)), modifiers.union(.control))))
        case 0x1C...0x1F:
            output.append(.key(KeyPress(.character(Unicode.Scalar(byte + 0x40)), modifiers.union(.control))))
        case 0x20...0x7E: output.append(.key(KeyPress(.character(Unicode.Scalar(byte)), modifiers)))
        case 0xC2...0xDF: state = .character(bits: UInt32(byte & 0x1F), smallest: 0x80, missing: 1, modifiers)
        case 0xE0...0xEF: state = .character(bits: UInt32(byte & 0x0F), smallest: 0x800, missing: 2, modifiers)
        case 0xF0...0xF4: state = .character(bits: UInt32(byte & 0x07), smallest: 0x10000, missing: 3, modifiers)
        default: break
        }
    }

    /// C1 controls are no typing either.
    private mutating func typed(_ codePoint: UInt32, _ smallest: UInt32, _ modifiers: Modifiers) {
        guard codePoint >= max(smallest, 0xA0), let scalar = Unicode.Scalar(codePoint) else { return }
        output.append(.key(KeyPress(.character(scalar), modifiers)))
    }
}
