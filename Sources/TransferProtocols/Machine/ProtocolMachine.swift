import Digests
package import FoundationEssentials
package import TransferModel

// The module: each protocol is a value that is told `ProtocolEvent`s and answers with `ProtocolAction`s. It opens no socket, reads no
// clock and takes no lock, so that every ugly case is a row in a test's table. The engine performs the actions, the queue stores the resume
// points. `AnswerMeaning`, `RemoteVersion`, `RedirectChain` and `OfferedName` are the rules that protocols over HTTP share.
//
// How to add a protocol: CONTRIBUTING.md.

/// A protocol at work on one attempt of one task: told what happened, it says what to do.
package protocol ProtocolMachine: Sendable {
    /// The next actions, in their order. After `finish`, `fail` or `wait` it answers with none.
    mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction]

    /// A resume point that no `persist` has told of: a file that is sent at once is not worth a commit, but something of it is, or may be,
    /// at the server. The engine takes it when the attempt ends without having finished.
    var remains: ResumePoint? { get }

    /// Resume points of what the server was asked to remove in this attempt and has not, as far as its answers say. Whoever ends or goes on
    /// with the upload keeps them known (`ResumePoint.left`).
    var unremoved: [ResumePoint] { get }

    /// It asks, or will first of all ask, what then holds for every file of the host: others that would ask the same wait for that answer.
    var asksHost: Bool { get }

    /// The states of the parts of a file that is sent in several, in their order; empty for one that goes as a whole.
    var partStandings: [PartStanding] { get }
}

extension ProtocolMachine {
    package var remains: ResumePoint? { nil }
    package var unremoved: [ResumePoint] { [] }
    package var asksHost: Bool { false }
    package var partStandings: [PartStanding] { [] }
}

/// The file to be sent, whatever the protocol.
package struct UploadSubject: Hashable, Sendable {
    /// The reason to begin anew where the server was told that it may replace what is there, and may not any more.
    static let mayNotReplace = "it was begun to replace what is there, which it may not any more"

    /// The file's name at the destination, one segment.
    package var name: RawPath
    /// Bytes of the source, when it was last looked at.
    package var size: Int64
    /// The source's time of modification, nanoseconds since 1970.
    package var modifiedNanoseconds: Int64
    package var ifExists: ExistingFilePolicy
    /// `nil`: the best that the server offers, and at least the size.
    package var verify: VerificationWish?
    /// When an earlier attempt began whose outcome nobody recorded: it may have reached the server.
    package var begunBefore: Timestamp?
    /// Our clock was set back since an attempt that may have reached the server began: nothing is older than that attempt by what it says now.
    package var clockWasSetBack = false
    private let source: UploadToken
    /// 32 hexadecimal digits: the same for all attempts of a task, never the same for two tasks. Names temporary files there.
    package var token: String { source.text }
    /// The source is not the one any more that the resume point was made for: what is there of it is thrown away.
    package var hasChanged: Bool
    /// The version that an earlier attempt was sending, where this attempt has found that the source changed.
    package var earlierVersion: NamedVersion?
    /// The earlier version of the source that this task has put under the final name. It is ours to replace while it stands there: whatever
    /// else has that name falls under `ifExists`. The plans of PUT, tus and IETF begin with it.
    package var own: StoredVersion?
    /// `own` was stored a moment ago, by this attempt: what has its length is it.
    package var hasJustStored = false
    /// The file at the target was compared with the source and is another one, whatever marks of ours it bears.
    package var targetIsOther = false
    /// True when size and time may show that a file under the final name is the source; else only the rule for existing files decides.
    var countsMarks: Bool { !hasChanged && !targetIsOther }
    /// The number of its first temporary file: those below may name what an earlier version has left there.
    package var firstGeneration = 1
    /// Bytes of it are known to have come to the server, by an attempt before.
    package var hasArrived = false
    /// Bytes from the file's start that the server had confirmed by what the queue knows; it may have confirmed more since.
    package var confirmed: Int64 = 0
    /// The cut that ended an earlier attempt: about how much it had sent beyond what the server had said to have. `nil`: nothing was sent,
    /// or the server has said since what it has. Where the resume point knows it better, that counts.
    package var unanswered: UploadCut?
    /// Nothing else of its batch waits to be sent.
    package var isLastOfBatch: Bool
    /// The media type that a person named; `nil`: what the name's end says.
    package var contentType: String?
    /// For servers that keep it with the file.
    var mediaType: String { contentType ?? MediaType.of(name.bytes) }

    package init(
        name: RawPath, size: Int64, modifiedNanoseconds: Int64 = 0, ifExists: ExistingFilePolicy = .fail,
        verify: VerificationWish? = nil, begunBefore: Timestamp? = nil, token: UploadToken, hasChanged: Bool = false,
        unanswered: UploadCut? = nil, isLastOfBatch: Bool = false
    ) {
        self.name = name
        self.size = size
        self.modifiedNanoseconds = modifiedNanoseconds
        self.ifExists = ifExists
        self.verify = verify
        self.begunBefore = begunBefore
        source = token
        self.hasChanged = hasChanged
        self.unanswered = unanswered
        self.isLastOfBatch = isLastOfBatch
    }
}

/// The source of a subject's token. Computed when it is asked for: a small file that is sent whole needs none.
package enum UploadToken: Hashable, Sendable, ExpressibleByStringLiteral {
    case digits(String)
    /// A task's UUID, hashed to digits of which the first are as different between two tasks as the last.
    case task(UUID)

    package init(stringLiteral digits: String) { self = .digits(digits) }

    package var text: String {
        switch self {
        case .digits(let digits): return digits
        case .task(let uuid):
            let digest = withUnsafeBytes(of: uuid.uuid) { DigestAlgorithm.sha256.digest(of: Array($0)) }
            return Hexadecimal.encode(digest.bytes.prefix(16))
        }
    }
}
