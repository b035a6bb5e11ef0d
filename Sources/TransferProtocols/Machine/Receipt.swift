package import TransferModel

/// The reason why the version of the source that an attempt has opened counts as being at the target. There is no other reason: size and
/// time alone prove nothing about what another run has sent.
package enum ArrivalProof: Hashable, Sendable {
    /// The server said yes to the last request of this attempt.
    case answered
    /// Only requests of this task can have made it so: our temporary file is gone and the target has the length; the upload that we made
    /// is full; the object carries our token.
    case token
    /// A digest of what is there is the source's.
    case digest
    /// The file stood there before anything of this task could have been given that name, with the source's size and time, and the rule
    /// lets such a file count.
    case stoodThere
    /// The rule says that the file is not to be sent. Nothing is claimed about its bytes.
    case skipped
}

/// The result of a transfer that succeeded. For an upload it is made of a proof alone.
package struct Receipt: Hashable, Sendable {
    /// The file's length.
    package let bytes: Int64
    package var verified: Verification
    /// Uploads only: why the file is there; `nil` for downloads and removals, whose proof is the local side's.
    package let proof: ArrivalProof?
    /// Digest of the whole file, when it was compared; for a download, the one that the local file must have.
    package var digest: TransferDigest?
    /// The file was found there, sent by an earlier attempt or the same by its digest.
    package var foundThere = false
    /// The server's tag of the version that it stored just now.
    package var etag: String?
    /// Status of the answer by which the server said that it has the file; HTTP only.
    package var status: Int?
    /// As `StoredVersion.shown`.
    package var shown: Int64?
    /// The final answer, when it says more than its status.
    package var response: TransferResponse?

    private init(_ proof: ArrivalProof?, bytes: Int64, verified: Verification, digest: TransferDigest?) {
        self.bytes = bytes
        self.verified = verified
        self.proof = proof
        self.digest = digest
    }

    /// The receipt of an upload.
    package init(_ proof: ArrivalProof, bytes: Int64, verified: Verification) {
        self.init(proof, bytes: bytes, verified: verified, digest: nil)
    }

    /// The receipt of a download.
    package static func received(_ bytes: Int64, verified: Verification, digest: TransferDigest? = nil) -> Receipt {
        Receipt(nil, bytes: bytes, verified: verified, digest: digest)
    }

    /// The receipt of a removal.
    package static var removed: Receipt { Receipt(nil, bytes: 0, verified: .none, digest: nil) }

    /// The receipt of an upload that the rule leaves out.
    package static func skipped(_ bytes: Int64) -> Receipt { Receipt(.skipped, bytes: bytes, verified: .none) }

    /// The rule said so: the file is there, and nothing was sent.
    package var skipped: Bool { proof == .skipped }

    /// True when less was compared than a person asked for.
    package func fallsShort(of wish: VerificationWish?) -> Bool {
        wish == .digest && verified != .digest && !skipped
    }

    /// True when this task put there what is there.
    package var isOurs: Bool {
        switch proof {
        case .answered, .token: true
        case .digest: !foundThere
        case .stoodThere, .skipped, nil: false
        }
    }
}
