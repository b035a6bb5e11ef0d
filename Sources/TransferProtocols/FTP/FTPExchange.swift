package import TransferModel

/// One transfer or list of commands on an FTP server. Paths are the server's, bytes as they are; `FTPServer` says who and where.
///
/// libcurl does the talking (USER, TYPE I, EPSV …); one exchange is one easy transfer.
package enum FTPExchange: Hashable, Sendable {
    /// The file's length and time: `MDTM`, `SIZE`. A file that is not there is an answer (550), no failure.
    case size(RawPath)
    /// Sends a range of the source: from zero by `STOR`, else by `APPE`, at whatever end the server's file has. Missing folders are made.
    case upload(RawPath, Range<Int64>, appends: Bool)
    /// Receives from an offset on, behind the gate: `REST`, `RETR`.
    case download(RawPath, from: Int64)
    /// `MLSD`: what lies in a folder, read as it comes. A server that does not know it refuses with 500, 502 or 504.
    case list(RawPath)
    /// Commands one after the other; the first that is refused ends it, unless its text begins with `*`.
    /// Texts are sent as they are: no line ends in them.
    case commands([[UInt8]])
}

/// The result of an FTP exchange.
package struct FTPEnd: Hashable, Sendable {
    /// The code of the reply that decided, 0 when none did. From 400 on it counts more than `failure`.
    package var reply: Int
    /// The last reply's text, made harmless.
    package var text: String
    /// The verb of the command that `reply` answers, `RNTO` for one.
    package var command: String
    /// The server does not let us in, whatever its reply's code.
    package var isLoginRefused = false
    /// `SIZE`'s answer.
    package var size: Int64?
    /// `MDTM`'s answer, where it was asked.
    package var modified: Timestamp?
    /// Listings only: the result of reading the bytes.
    package var listing: ListingEnd?
    /// Bytes of the source that were handed to the connection.
    package var bytesSent: Int64
    /// Bytes that were written through the gate.
    package var bytesWritten: Int64
    /// `nil`: the server said yes (2xx).
    package var failure: ExchangeFailure?
    package var at: Timestamp

    package init(
        reply: Int, text: String = "", command: String = "", size: Int64? = nil, modified: Timestamp? = nil,
        bytesSent: Int64 = 0,
        bytesWritten: Int64 = 0, failure: ExchangeFailure? = nil, at: Timestamp
    ) {
        self.reply = reply
        self.text = text
        self.command = command
        self.size = size
        self.modified = modified
        self.bytesSent = bytesSent
        self.bytesWritten = bytesWritten
        self.failure = failure
        self.at = at
    }
}
