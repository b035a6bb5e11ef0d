package import TransferModel
import WireOperations

/// Asks a place whether it can be used: logs in, looks at the folder, and reads what the server says of itself. Nothing
/// is written there. One machine for all protocols, because each needs but one or two questions.
package struct PlaceProbe: ProtocolMachine {
    /// The place to ask.
    package enum Target: Hashable, Sendable {
        case http(HTTPAddress, asks: Question)
        case s3(S3Address, HostFacts)
        case ftp(host: String, RawPath)
        case sftp(host: String, RawPath)
    }

    /// The question over HTTP.
    package enum Question: String, Hashable, Sendable {
        /// Asks for the upload protocol that the server speaks, if any.
        case any
        case tus, ietf, put
        case dav
    }

    /// The server's answers; `nil` where it did not tell.
    package struct Findings: Hashable, Sendable {
        package var protocolName: String?
        package var exists: Bool?
        package var writable: Bool?
        package var freeBytes: Int64?

        package init() {}
    }

    private enum State {
        /// Next: `asking`, `over`.
        case ready
        /// Next: itself (a further question), `over`.
        case asking(ExchangeID)
        /// The last action was said.
        case over
    }

    private let target: Target
    private var state = State.ready
    private var lastID = 0
    private var uploads = UploadProbe(takesTus: true)
    private var channel: S3Channel?
    /// The findings so far; whole when the machine has finished.
    package private(set) var findings = Findings()

    package init(_ target: Target) {
        self.target = target
        if case .s3(let address, let facts) = target { channel = S3Channel(address, facts) }
    }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        switch (state, event) {
        case (.ready, .began): return begin()
        case (.asking(let id), .ended(let ended, let end)) where ended == id: return answered(end)
        case (.asking(let id), .ftpEnded(let ended, let end)) where ended == id: return answered(end)
        case (.asking(let id), .sftpEnded(let ended, let end)) where ended == id: return answered(end)
        default: return []
        }
    }

    private mutating func begin() -> [ProtocolAction] {
        switch target {
        case .http(let address, .dav): return ask(DavMessages.quota(address))
        case .http(let address, _):
            return ask(ResumableMessages.options(RedirectChain(address), version: uploads.asking))
        case .s3: return askBucket()
        case .ftp(_, let path):
            // A session begins in the home folder, and an empty path is that one.
            let folder = path.bytes.isEmpty ? Array(".".utf8) : path.bytes
            return ask(.ftp(.commands([Array("CWD ".utf8) + folder])))
        case .sftp(_, let path): return ask(.sftp(.status(path.bytes.isEmpty ? RawPath(".") : path)))
        }
    }

    private mutating func ask(_ exchange: Exchange) -> [ProtocolAction] {
        lastID += 1
        state = .asking(ExchangeID(rawValue: lastID))
        return [.perform(ExchangeID(rawValue: lastID), exchange)]
    }

    private mutating func over(_ action: ProtocolAction) -> [ProtocolAction] {
        state = .over
        return [action]
    }

    private mutating func done() -> [ProtocolAction] { over(.finish(.removed)) }

    // MARK: HTTP

    private mutating func answered(_ end: ExchangeEnd) -> [ProtocolAction] {
        switch target {
        case .http(let address, .dav): return davAnswered(end, address)
        case .http(let address, let question): return optionsAnswered(end, address, question)
        case .s3: return bucketAnswered(end)
        case .ftp, .sftp: return []
        }
    }

    private mutating func optionsAnswered(
        _ end: ExchangeEnd, _ address: HTTPAddress, _ question: Question
    ) -> [ProtocolAction] {
        guard let answer = end.answer else {
            let error = end.failure?.error ?? .noAnswer(address)
            return over(error.isRetryable ? .wait(WaitDemand(.backoff, error)) : .fail(error))
        }
        switch uploads.read(answer, host: address.server, at: end.at) {
        case .again:
            return ask(ResumableMessages.options(RedirectChain(address), version: uploads.asking))
        case .wait(let demand): return over(.wait(demand))
        case .tus: findings.protocolName = "tus"
        case .resumable, .speaks: findings.protocolName = "ietf"
        case .moved: findings.protocolName = "put"
        case .nothing:
            // 404 and 405 are what many servers say to OPTIONS alone; a 403 is meant.
            if answer.status == 403,
                let refusal = AnswerMeaning(answer, host: address.server, hasAccepted: false, at: end.at).refusal
            {
                return over(refusal)
            }
            findings.protocolName = "put"
            findings.writable = Self.allowsPut(answer)
        }
        guard question == .any || question == .put || findings.protocolName == question.rawValue else {
            let message =
                "\(address.server) does not say that it speaks \(question.rawValue): choose another --protocol"
            return over(.fail(TransferError(.unsupported, message)))
        }
        if question == .put { findings.protocolName = "put" }
        return done()
    }

    /// `Allow` and `DAV` say it; without them nobody knows.
    private static func allowsPut(_ answer: HTTPAnswer) -> Bool? {
        guard answer.isSuccess, let allowed = answer.field("allow") else { return nil }
        let methods = allowed.split(separator: ",").map { $0.filter { $0 != " " }.uppercased() }
        return methods.contains("PUT") ? true : nil
    }

    // MARK: WebDAV

    private mutating func davAnswered(_ end: ExchangeEnd, _ address: HTTPAddress) -> [ProtocolAction] {
        findings.protocolName = "dav"
        switch DavFinding(end, host: address.server, hasAccepted: false) {
        case .found:
            findings.exists = true
            let quota = DavQuota(end.body)
            findings.freeBytes = quota.available
            findings.writable = quota.writable
        case .missing: findings.exists = false
        case .unknownMethod:
            return over(
                .fail(TransferError(.unsupported, "\(address.server) does not know WebDAV: write https:// instead")))
        case .other(let meaning): if let refusal = meaning.refusal { return over(refusal) }
        }
        return done()
    }

    // MARK: S3

    private mutating func askBucket() -> [ProtocolAction] {
        guard case .s3(let address, _) = target else { return [] }
        let query = "list-type=2&max-keys=1&prefix=" + PercentEncoding.encode(address.key.bytes)
        guard let exchange = channel?.bucketExchange(query: query) else {
            return over(.fail(.noRegion(address.place.region ?? "")))
        }
        return ask(.http(exchange))
    }

    private mutating func bucketAnswered(_ end: ExchangeEnd) -> [ProtocolAction] {
        // Without a channel nothing was asked.
        guard var channel else { return [] }
        let verdict = channel.judge(end, lesson: channel.lessons, hasAccepted: false)
        self.channel = channel
        switch verdict {
        case .success:
            findings.protocolName = "s3"
            return done()
        case .again(let learnt): return (learnt.map { [.learned($0)] } ?? []) + askBucket()
        case .silent(let error, _): return over(error.isRetryable ? .wait(WaitDemand(.backoff, error)) : .fail(error))
        case .refused(let refusal):
            switch refusal.decision {
            case .wait(let demand): return over(.wait(demand))
            case .fail(let error): return over(.fail(error))
            }
        }
    }

    // MARK: FTP and SFTP

    private mutating func answered(_ end: FTPEnd) -> [ProtocolAction] {
        guard case .ftp(let host, _) = target else { return [] }
        findings.protocolName = "ftp"
        // The login was good; the folder is made by the first upload.
        if end.reply == 550, !end.isLoginRefused {
            findings.exists = false
        } else if end.isDone {
            findings.exists = true
        } else {
            return over(FTPMeaning(end, host: host, hasAccepted: false).action)
        }
        return done()
    }

    private mutating func answered(_ end: SFTPEnd) -> [ProtocolAction] {
        guard case .sftp(let host, let path) = target else { return [] }
        if let broken = end.brokenOff { return over(broken) }
        if case .freeSpace(let bytes)? = end.reply { findings.freeBytes = bytes }
        // Whatever became of the question for room, the login is good.
        if findings.protocolName != nil { return done() }
        findings.protocolName = "sftp"
        if let (status, text) = end.refusal {
            guard status == .noSuchFile else {
                return over(SFTPMeaning.action(status, text, .open, host: host, hasAccepted: false))
            }
            findings.exists = false
        } else if let attributes = end.attributes {
            guard attributes.isFolder else {
                let message = "\(path.displayed) at \(host) is a file: name a folder"
                return over(.fail(TransferError(.destinationUnwritable, message)))
            }
            findings.exists = true
        }
        guard end.features.tellsFreeSpace, findings.exists == true else { return done() }
        return ask(.sftp(.freeSpace(path.bytes.isEmpty ? RawPath(".") : path)))
    }
}
