package import LinuxSystem
package import WireOperations

/// An FTP server and who we are there.
package struct FTPServer: Sendable, Hashable {
    package var security: FTPSecurity
    /// A name or an address; an IPv6 address in brackets.
    package var host: String
    /// `nil`: 21, or 990 where TLS is implicit.
    package var port: Int?
    /// Credentials (none: anonymous), authorities, pin, client certificate and proxy; a proxy over HTTP is asked for a tunnel.
    package var connection: ConnectionSettings
    /// TLS 1.3 may be spoken, too: only where nothing is uploaded. With libcurl 7.88.1 uploads over TLS 1.3 lose their last bytes.
    package var allowsTLS13 = false

    package init(
        _ security: FTPSecurity = .none, host: String, port: Int? = nil,
        connection: ConnectionSettings = ConnectionSettings()
    ) {
        self.security = security
        self.host = host
        self.port = port
        self.connection = connection
    }
}

/// One exchange, as a value.
package struct FTPRequest: Sendable, Equatable {
    package var server: FTPServer
    package var operation: FTPOperation
    package var timeouts = RequestTimeouts()

    package init(_ server: FTPServer, _ operation: FTPOperation) {
        self.server = server
        self.operation = operation
    }
}

/// The source of an upload's bytes: read on a thread of the transport, at exact offsets.
package enum FTPSource: Sendable {
    case bytes([UInt8])
    /// A file from an offset on.
    case file(UnchangedFile, from: Int64)
}

/// The end of an exchange, with all that a decision needs.
package struct FTPTransferEnd: Sendable {
    /// `nil`: the server said yes.
    package var failure: CurlFailure?
    package var answer = FTPAnswer()
    /// Bytes of the source that were given to the connection; the server may have seen fewer.
    package var bytesSent: Int64 = 0
    /// Bytes that came.
    package var bytesReceived: Int64 = 0
    /// Those of them that the sink has.
    package var bytesDelivered: Int64 = 0
    /// The peer's address.
    package var address: String?

    /// An end with nothing in it yet; for the transport and for fakes of it.
    package init() {}
}

/// An event of an FTP exchange: exactly one `ended`, unless it was abandoned.
package enum FTPEvent: Sendable {
    case ended(WireID, FTPTransferEnd)
}
