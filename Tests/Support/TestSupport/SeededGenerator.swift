/// Repeatable randomness (SplitMix64): a failing case comes back with its seed. What tests of all modules draw from.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// From 0 up to, and without, the bound.
    package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// Up to forty pieces, most of them something that hurt somebody's terminal.
    package mutating func hostileBytes() -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 0...40, using: &self) {
            switch Int.random(in: 0..<8, using: &self) {
            case 0: bytes.append(UInt8.random(in: 0...255, using: &self))
            case 1: bytes.append(UInt8.random(in: 0x20...0x7E, using: &self))
            case 2, 3: bytes += Self.hostile[Int.random(in: 0..<Self.hostile.count, using: &self)].utf8
            case 4: append(UInt32.random(in: 0...0x10FFFF, using: &self), to: &bytes)
            case 5: append(UInt32.random(in: 0x1F000...0x1FAFF, using: &self), to: &bytes)
            case 6: append(UInt32.random(in: 0x300...0x36F, using: &self), to: &bytes)
            default: append(UInt32.random(in: 0...0x3FFF, using: &self), to: &bytes)
            }
        }
        return bytes
    }

    private func append(_ codePoint: UInt32, to bytes: inout [UInt8]) {
        if let scalar = Unicode.Scalar(codePoint) { bytes += Array(String(Character(scalar)).utf8) }
    }

    private static let hostile = [
        "\u{1B}[2J", "\u{1B}]0;x\u{7}", "\u{202E}", "\u{200D}", "\u{FE0F}", "\u{FE0E}", "\u{1F3FD}",
        "👨\u{200D}👩\u{200D}👧",
        "🇯🇵", "🇯", "❤\u{FE0F}\u{200D}🔥", "\u{301}\u{302}\u{303}", "\u{1112}\u{1161}\u{11AB}", "\u{1161}", "\u{E0041}",
        "\u{20E3}", "\u{A0}", "\u{3000}", "\\x1b", "\\u{202E}", "◌", "␣", "\u{9B}", "\u{85}", "ก็", "\r", "\t",
    ]
}
