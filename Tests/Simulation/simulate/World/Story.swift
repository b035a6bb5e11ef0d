/// The lines of one run, each with its virtual time, and a digest of all of them: two runs of one seed have the same.
final class Story {
    /// The last lines; earlier ones count in the digest only.
    private var lines: [String] = []
    private(set) var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    /// All lines are printed as they come.
    var isPrinted = false
    private static let most = 4000

    func tell(_ line: String) {
        // FNV-1a
        for byte in line.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
        if isPrinted { print(line) }
        lines.append(line)
        if lines.count >= 2 * Self.most { lines.removeFirst(Self.most) }
    }

    /// Takes what happened into the digest without a line.
    func count(_ number: UInt64) { digest = (digest ^ number) &* 0x100_0000_01B3 }

    func end(_ count: Int) -> [String] { Array(lines.suffix(count)) }
}
