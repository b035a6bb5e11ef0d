import Digests
package import DisplayText

/// What a receiver is told when it starts.
package struct ReceiverConfiguration: Sendable {
    /// The folder that is served and written to.
    package var folder: [UInt8]
    package var listen = ListenAddress.loopback
    /// Who may ask; loopback may be open, anything else must say so.
    package var access = Access.open
    /// Certificate and key in PEM, for `https`.
    package var tls: TLSMaterial?
    package var limits = Limits()
    /// The output is a terminal with these characters: what is under way is shown there, redrawn in place.
    package var showsUploads: CharacterSet?

    package init(folder: [UInt8]) { self.folder = folder }

    package enum Access: Sendable {
        case open
        /// Only requests with `Authorization: Bearer` and this token.
        case token([UInt8])

        /// Whether a request with this `Authorization` field may go on. Compares in constant time.
        func admits(_ authorization: String?) -> Bool {
            guard case .token(let secret) = self else { return true }
            guard let authorization else { return false }
            let words = authorization.split(separator: " ", omittingEmptySubsequences: true)
            guard words.count == 2, words[0].lowercased() == "bearer" else { return false }
            return SecretComparison.areEqual(Array(words[1].utf8), secret)
        }
    }

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
        package var connections: UInt32 = 512
        /// How long a connection may be silent, in seconds.
        package var silence: UInt32 = 300

        /// How long an upload that nobody goes on with is kept, in seconds.
        package var unfinishedLifetime: Int64 = 7 * 86_400
        /// How long a complete one is remembered at most, for a client that did not hear of it. Later the file itself is the answer.
        package var completeLifetime: Int64 = 86_400
        /// How many threads serve connections.
        package var threads = 2

        package init() {}
    }
}
