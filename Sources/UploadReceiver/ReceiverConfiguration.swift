import Digests
package import DisplayText

/// What a receiver is told when it starts.
package struct ReceiverConfiguration: Sendable {
    /// The folder that is served and written to.
    package var folder: [UInt8]
    package var listen = ListenAddress.loopback
    /// Who may ask.
    package var access = Access.open
    /// Names by which the receiver may be called beside its own: `NAME` with any port, or `NAME:PORT`.
    package var names: [String] = []
    /// Certificate and key in PEM, for `https`.
    package var tls: TLSMaterial?
    package var limits = Limits()
    /// The output is a terminal with these characters: what is under way is shown there, redrawn in place.
    package var showsUploads: CharacterSet?

    /// What the disk has free, in bytes, instead of asking it: for tests.
    var freeSpace: DiskRoom.Look?

    package init(folder: [UInt8]) { self.folder = folder }

    /// Whether `names` takes such a text.
    package static func isName(_ text: String) -> Bool { RequestAuthority(text) != nil }

    package enum Access: Sendable {
        case open
        /// Only requests with `Authorization: Bearer` and this token.
        case token([UInt8])
        /// Only requests with the token that is kept in this state directory for the port, and made when there is none. The receiver
        /// becomes one of `token` when it knows its port.
        case kept(in: [UInt8])

        /// Whether a request with this `Authorization` field may go on. Compares in constant time.
        func admits(_ authorization: String?) -> Bool {
            let secret: [UInt8]
            switch self {
            case .open: return true
            case .kept: return false
            case .token(let token): secret = token
            }
            guard let authorization else { return false }
            let words = authorization.split(separator: " ", omittingEmptySubsequences: true)
            guard words.count == 2, words[0].lowercased() == "bearer" else { return false }
            return SecretComparison.areEqual(Array(words[1].utf8), secret)
        }
    }

    /// Whether a token that the receiver made is shown in its output, and not only the file that holds it.
    package var showsToken = false

    /// A certificate chain and its key, each the bytes of a PEM file.
    package struct TLSMaterial: Sendable {
        package let certificate: [UInt8]
        package let key: [UInt8]

        package init(certificate: [UInt8], key: [UInt8]) {
            self.certificate = certificate
            self.key = key
        }
    }

    package struct Limits: Sendable {
        /// The largest file taken, in bytes.
        package var maximumSize: UInt64?
        /// How much room on the disk is left alone, in bytes.
        package var keepFree: UInt64 = 64 << 20
        /// How many connections there may be, in all and from one address.
        package var connections = 512
        package var connectionsPerAddress = 256
        /// How many of them may be without a request that was let in; the oldest of more is closed.
        package var unprovenConnections = 64
        /// How long a connection may be silent, in seconds, and how long one on which no request was let in.
        package var silence: UInt32 = 300
        package var unprovenSilence: UInt32 = 15
        /// How many unfinished uploads there may be; beginning another one is refused.
        package var unfinishedUploads = 10_000
        /// How many complete uploads are remembered; the oldest of more is forgotten.
        package var rememberedUploads = 10_000

        /// How long an upload that nobody goes on with is kept, in seconds.
        package var unfinishedLifetime: Int64 = 7 * 86_400
        /// How long a complete one is remembered at most, for a client that did not hear of it. Later the file itself is the answer.
        package var completeLifetime: Int64 = 86_400
        /// How many threads serve connections.
        package var threads = 2

        package init() {}
    }
}
