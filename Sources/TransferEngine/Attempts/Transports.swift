import CurlTransport
import LinuxSystem
import SSHTransport

/// The transports of the engine. On its loop.
struct Transports {
    let maker: any TransportMaker
    /// Made when the engine starts; `nil` before that, and when it has stopped.
    var http: (any HTTPExchanges)?
    /// Made with the first exchange that needs it.
    var ftp: (any FTPExchanges)?
    /// Made with the first operation that needs it.
    var sftp: (any SFTPOperations)?
}
