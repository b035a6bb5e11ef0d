import CurlTransport
import SSHTransport

/// The transports of the engine. On its loop.
struct Transports {
    /// Made when the engine starts; `nil` before that, and when it has stopped.
    var http: HTTPTransport?
    /// Made with the first exchange that needs it.
    var ftp: FTPTransport?
    /// Made with the first operation that needs it.
    var sftp: SFTPTransport?
}
