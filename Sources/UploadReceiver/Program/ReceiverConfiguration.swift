import Digests
package import DisplayText

/// The settings with which a receiver starts.
package struct ReceiverConfiguration: Sendable {
    /// The folder that is served and written to.
    package var folder: [UInt8]
    package var listen = ListenAddress.loopback
    /// The requests that are let in: all, or those with a token.
    package var access = Access.open
    /// Names by which the receiver may be called beside its own: `NAME` with any port, or `NAME:PORT`.
    package var names: [String] = []
    /// Certificate and key in PEM, for `https`.
    package var tls: TLSMaterial?
    package var limits = Limits()
    /// The output is a terminal with these characters: what is under way is shown there, redrawn in place.
    package var showsUploads: CharacterSet?

    /// Replaces the disk's answer about free bytes: for tests.
    var freeSpace: DiskRoom.Look?

    package init(folder: [UInt8]) { self.folder = folder }

    /// Returns true for a text that `names` takes.
    package static func isName(_ text: String) -> Bool { RequestAuthority(text) != nil }

    package enum Access: Sendable {
        case open
        /// Only requests with `Authorization: Bearer` and this token.
        case token([UInt8])
        /// Only requests with the token that is kept in this state directory for the port, and made when there is none. The receiver
        /// becomes one of `token` when it knows its port.
        case kept(in: [UInt8])

        /// Returns true when a request with this `Authorization` field may go on. Compares in constant time.
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

    /// True when a token that the receiver made is shown in its output, and not only the file that holds it.
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
        /// Bytes of the disk that stay free.
        package var keepFree: UInt64 = 64 << 20
        /// The most connections, in all and from one address.
        package var connections = 512
        package var connectionsPerAddress = 256
        /// The most connections without a request that was let in; beyond that the oldest is closed.
        package var unprovenConnections = 64
        /// Seconds that a connection may be silent, and seconds for one on which no request was let in.
        package var silence: UInt32 = 300
        package var unprovenSilence: UInt32 = 15
        /// The most unfinished uploads; beyond that no upload may begin.
        package var unfinishedUploads = 10_000
        /// The most complete uploads that are remembered; beyond that the oldest is forgotten.
        package var rememberedUploads = 10_000

        /// Seconds that an unfinished upload is kept after its last use.
        package var unfinishedLifetime: Int64 = 7 * 86_400
        /// Seconds that a complete upload is remembered at most, for a client that missed the answer. Later the file itself is the answer.
        package var completeLifetime: Int64 = 86_400
        /// The number of threads that serve connections.
        package var threads = 2

        package init() {}
    }
}
