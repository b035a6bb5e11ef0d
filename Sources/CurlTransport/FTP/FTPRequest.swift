package import LinuxSystem

/// An FTP server and who we are there.
package struct FTPServer: Sendable, Hashable {
    /// The protection of the connection.
    package enum Security: Sendable, Hashable {
        case none
        /// TLS from the first byte on.
        case implicit
        /// TLS after `AUTH TLS`, required for commands and data. Corresponds to `CURLUSESSL_ALL`.
        case explicit
    }

    package var security: Security
    /// A name or an address; an IPv6 address in brackets.
    package var host: String
    /// `nil`: 21, or 990 where TLS is implicit.
    package var port: Int?
    /// Credentials (none: anonymous), authorities, pin, client certificate and proxy; a proxy over HTTP is asked for a tunnel.
    package var connection: ConnectionSettings
    /// TLS 1.3 may be spoken, too: only where nothing is uploaded. With libcurl 7.88.1 uploads over TLS 1.3 lose their last bytes.
    package var allowsTLS13 = false

    package init(
        _ security: Security = .none, host: String, port: Int? = nil,
        connection: ConnectionSettings = ConnectionSettings()
    ) {
        self.security = security
        self.host = host
        self.port = port
        self.connection = connection
    }
}

/// The work to do at an FTP server. Paths are bytes without line ends; from the folder after the login, or from the root when they
/// begin with a slash.
package enum FTPWork: Sendable, Hashable {
    /// `MDTM` and `SIZE` of a file.
    case size([UInt8])
    /// That many bytes from the source, by `STOR` or `APPE`. A missing folder is made and the transfer begun once more.
    case upload([UInt8], length: Int64, appends: Bool)
    /// `REST` and `RETR`, behind the gate.
    case download([UInt8], from: Int64)
    /// `MLSD` of a folder, behind the gate; the folder after the login for an empty path.
    case list([UInt8])
    /// Commands in their order; the first that is refused ends it, unless its text begins with `*`.
    case commands([[UInt8]])
}

extension FTPWork {
    /// Bytes come that wait behind the gate.
    var brings: Bool {
        switch self {
        case .download, .list: true
        case .size, .upload, .commands: false
        }
    }
}

/// One exchange, as a value.
package struct FTPRequest: Sendable, Equatable {
    package var server: FTPServer
    package var work: FTPWork
    package var timeouts = ExchangeTimeouts()

    package init(_ server: FTPServer, _ work: FTPWork) {
        self.server = server
        self.work = work
    }
}

/// The source of an upload's bytes: read on a thread of the transport, at exact offsets.
package enum FTPSource: Sendable {
    case bytes([UInt8])
    /// A file from an offset on. The descriptor must not be closed before the exchange has ended; a duplicate is best.
    case file(OwnedDescriptor, from: Int64)
}

/// A server's reply: three digits and a text.
package struct FTPReply: Sendable, Equatable {
    package let code: Int
    /// The text of the last line, as it came.
    package let text: String

    package init(code: Int, text: String) {
        self.code = code
        self.text = text
    }
}

/// The end of an exchange, with all that a decision needs.
package struct FTPExchangeEnd: Sendable {
    /// `nil`: the server said yes.
    package var failure: ExchangeFailure?
    /// The reply that decided: the one that refused, or the last one after success. `nil` when none did.
    package var reply: FTPReply?
    /// The verb of the command that `reply` answers, `RNTO` for one; empty for the greeting.
    package var command = ""
    /// The server does not let us in.
    package var isLoginRefused = false
    /// `SIZE`'s answer, of `.size` and `.download`.
    package var size: Int64?
    /// `MDTM`'s answer, seconds since 1970.
    package var modified: Int64?
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
    case ended(ExchangeID, FTPExchangeEnd)
}
