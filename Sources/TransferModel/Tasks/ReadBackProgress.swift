/// The progress of reading files back from their server and comparing them with what was sent, by SHA-256.
public struct ReadBackProgress: Codable, Hashable, Sendable {
    /// Files that were read, or could not be.
    public var files: Int64
    /// Files whose bytes are those that were sent.
    public var same: Int64
    /// Bytes that have come.
    public var bytes: Int64
    /// Files that are not the same, by the code `notThere`, and those that could not be read, by other codes. At most a thousand of them.
    public var findings: [AbsentTask]
    /// All of it was gone through.
    public var isOver: Bool

    public init(
        files: Int64 = 0, same: Int64 = 0, bytes: Int64 = 0, findings: [AbsentTask] = [], isOver: Bool = false
    ) {
        self.files = files
        self.same = same
        self.bytes = bytes
        self.findings = findings
        self.isOver = isOver
    }
}
