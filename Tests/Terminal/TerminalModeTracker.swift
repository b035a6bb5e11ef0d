/// Follows what a program does to a terminal: which private modes are on, and which sequences it uses at all.
struct TerminalModeTracker {
    /// Private modes that were switched on and not off. 25 (the cursor) counts when it is off.
    private(set) var on: Set<Int> = []
    /// ESC = came, and not ESC >.
    private(set) var applicationKeypad = false
    /// Sequences that are not among those we know ncurses and ourselves to write.
    private(set) var unexpected: [String] = []
    private var pending: [UInt8] = []

    var isNeutral: Bool { on.isEmpty && !applicationKeypad }

    mutating func take(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            if pending.isEmpty {
                if byte == 0x1B { pending = [byte] } else { check(byte) }
                continue
            }
            pending.append(byte)
            switch (pending[1], pending.count) {
            case (0x5B, 2): continue
            case (0x5B, _):
                if 0x40...0x7E ~= byte { finish() }
            case (0x28, 2), (0x29, 2): continue
            // A string ends with BEL. ncurses puts the colours back with one.
            case (0x5D, _): if byte == 0x07 { finish() }
            default: finish()
            }
        }
    }

    private mutating func check(_ byte: UInt8) {
        switch byte {
        case 0x07, 0x08, 0x0A, 0x0D, 0x20...0x7E, 0x80...: break
        default: unexpected.append("control \(byte)")
        }
    }

    private mutating func finish() {
        defer { pending = [] }
        let body = String(decoding: pending.dropFirst(), as: UTF8.self)
        switch body {
        case "=": applicationKeypad = true
        case ">": applicationKeypad = false
        // Character sets, save and restore.
        case "(B", "(0", ")0", "7", "8", "M": break
        case _ where body.hasPrefix("[?") && (body.hasSuffix("h") || body.hasSuffix("l")):
            for mode in body.dropFirst(2).dropLast().split(separator: ";").compactMap({ Int($0) }) {
                // 7 is automatic wrapping, 12 a blinking cursor: as they are by default.
                if mode == 7 || mode == 12 { continue }
                let isSet = body.hasSuffix("h")
                if isSet != (mode == 25) { on.insert(mode) } else { on.remove(mode) }
            }
        case _ where body.hasPrefix("[") && "HJKmABCDGdXPLMrbSThl@".contains(body.last ?? " "):
            let parameters = body.dropFirst().dropLast()
            if !parameters.allSatisfy({ $0.isNumber || $0 == ";" }) { unexpected.append(body) }
        // xterm's window operations that save and restore the title, part of smcup and rmcup.
        case "[22;0;0t", "[23;0;0t", "]104\u{7}": break
        default: unexpected.append(body)
        }
    }
}
