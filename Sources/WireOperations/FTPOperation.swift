package import TransferModel

/// The protection of a connection to an FTP server, written as the scheme of its address.
package enum FTPSecurity: String, Hashable, Sendable {
    /// Not at all.
    case none = "ftp"
    /// TLS from the first byte on.
    case implicit = "ftps"
    /// TLS after `AUTH TLS`, required for commands and data. Corresponds to `CURLUSESSL_ALL`.
    case explicit = "ftpes"
}

/// One transfer or list of commands at an FTP server. Paths are the server's, bytes as they are and without line ends; from the folder
/// after the login, or from the root when they begin with a slash.
///
/// libcurl does the talking (USER, TYPE I, EPSV …); one operation is one easy transfer.
package enum FTPOperation: Hashable, Sendable {
    /// `MDTM` and `SIZE`: the file's time and length. A file that is not there is an answer (550), no failure.
    case size(RawPath)
    /// Sends a range of the source: by `STOR`, or by `APPE` at whatever end the server's file has. Missing folders are made and the transfer
    /// begun once more.
    case upload(RawPath, Range<Int64>, appends: Bool)
    /// Receives from an offset on, behind the gate: `REST`, `RETR`. Bounded, `SIZE` is asked before it, and a transfer of another length fails;
    /// else the server alone says where the end is.
    case download(RawPath, from: Int64, isBounded: Bool = true)
    /// `MLSD`: what lies in a folder, behind the gate; the folder after the login for an empty path. A server that does not know it refuses
    /// with 500, 502 or 504.
    case list(RawPath)
    /// `CWD`: is it a folder? The session stands in it afterwards and is ended: the paths of whoever used it next would start there.
    case enter(RawPath)
    /// Commands in their order; the first that is refused ends it, unless its text begins with `*`. Texts are sent as they are, and none may
    /// change the folder that paths start from.
    case commands([[UInt8]])

    /// Bytes come that wait behind the gate.
    package var brings: Bool {
        switch self {
        case .download, .list: true
        case .size, .upload, .enter, .commands: false
        }
    }
}
