package import TransferModel

/// A server's reply: three digits and a text.
package struct FTPReply: Hashable, Sendable {
    package let code: Int
    /// The beginning of the text of the last line, made harmless.
    package let text: String

    /// - Parameter text: as it came, however long: libcurl takes lines as long as its buffer.
    package init(code: Int, text: String) {
        self.code = code
        self.text = RawPath(Array(text.utf8.prefix(Self.longest))).displayed
    }

    /// Bytes of a text that are kept: as many as of SFTP's.
    private static let longest = 300
}

/// All that a server said to one operation.
package struct FTPAnswer: Hashable, Sendable {
    /// The reply that decided: the one that refused, or the last one after success. `nil` when none did. From 400 on it counts more than a
    /// failure beside it.
    package var reply: FTPReply?
    /// The verb of the command that `reply` answers, `RNTO` for one; empty for the greeting.
    package var command = ""
    /// The server does not let us in, whatever its reply's code.
    package var isLoginRefused = false
    /// `SIZE`'s answer to `.size` and `.download`; of a download that is not bounded the length that the answer to `RETR` announces, where it
    /// does: of what is left, or of the whole file. `FileSize.beyond` stands for a size that no file can have.
    package var size: Int64? { didSet { size = size.flatMap(FileSize.told) } }
    /// `MDTM`'s answer, where it was asked.
    package var modified: Timestamp?

    package init() {}
}
