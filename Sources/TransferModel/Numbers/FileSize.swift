/// The bounds of a file's size, and of a position in a file, whoever tells it: a server, a disk, a row of the queue.
///
/// A number that no file can have becomes ``beyond`` where it is read. Arithmetic is safe with it, and the engine refuses the file
/// (``isPossible(_:)``) before a byte of it moves.
public enum FileSize {
    /// Bytes: 8 PiB. Larger than any file there is, and exact in JSON.
    public static let largest: Int64 = 1 << 53
    /// Stands for every size above `largest`.
    public static let beyond = largest + 1

    /// A size that somebody told; `nil` for a negative one.
    public static func told(_ bytes: Int64) -> Int64? { bytes < 0 ? nil : min(bytes, beyond) }

    /// A size written in decimal digits, however many; `nil` for anything else.
    public static func read(_ digits: some StringProtocol) -> Int64? {
        let bytes = digits.utf8
        guard !bytes.isEmpty, bytes.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return bytes.reduce(0) { min($0 * 10 + Int64($1 - 48), beyond) }
    }

    /// Returns true for a size that a file can have.
    public static func isPossible(_ bytes: Int64) -> Bool { (0...largest).contains(bytes) }
}

/// Sums of many files' bytes, or of files. They stay within ±64 PiB, so that nothing a sum is added to overflows either.
public enum ByteSum {
    /// Bytes.
    public static let largest: Int64 = 1 << 56

    /// Adds bytes, or takes them away when negative.
    public static func add(_ bytes: Int64, to sum: inout Int64) {
        let (total, overflow) = sum.addingReportingOverflow(bytes)
        sum = overflow ? (bytes < 0 ? -largest : largest) : within(total)
    }

    /// A sum that somebody told, or the bound that it lies beyond.
    package static func within(_ sum: Int64) -> Int64 { min(max(sum, -largest), largest) }

    /// The sum of numbers of bytes or files, also of those that an engine elsewhere tells.
    public static func of(_ numbers: some Sequence<Int64>) -> Int64 {
        numbers.reduce(into: 0) { add($1, to: &$0) }
    }
}
