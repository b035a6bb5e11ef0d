import CurlTransport
import TransferModel
import TransferProtocols
import TransferQueue
import WireOperations

/// The credentials of a batch: those that are shown to the server now, whether they are to be asked for, and what came of the last question.
/// A value of the batch's context; `TransferEngine+Contexts` asks. Holds secrets; never printed.
struct CredentialState {
    /// The credentials that are shown to the server, beside given header fields.
    enum Shown {
        /// To be asked for: a command or a netrc file. Nothing goes out before that.
        case unknown
        case none
        case user(String, password: String)
        case netrc(Netrc)
        /// Keys that a program printed.
        case s3(S3Keys)
        /// They cannot be had: the batch's tasks wait for a person.
        case failed(TransferError)
    }

    /// Counts the changes of a batch's credentials. An attempt that began with an earlier one shows what nobody would show now.
    struct Generation: Equatable {
        /// Rises when a person gives what lets the batch in, and when it is to be asked for anew after a refusal.
        fileprivate(set) var keys = 0
        /// Rises when a person gives it.
        fileprivate(set) var secrets = 0
    }

    typealias Question = Task<CredentialSource.Found, Never>

    /// As a person gave them.
    private var secrets: TransferSecrets
    private var lacks: Set<KeptSecret>
    /// The host that a netrc file must name; `nil`: none, because this is no upload, or because another login counts there.
    private let netrcHost: String?
    private(set) var shown: Shown
    private(set) var generation = Generation()
    /// The way in which a name and password are shown: at once, until a server refuses that.
    private var scheme = HTTPCredentials.Scheme.basic
    /// The question that goes on.
    private var asking: Question?
    /// They are asked for anew before another file begins. What runs goes on showing those at hand: one file's refusal takes nobody's
    /// login away.
    private var isStale = false
    /// The reason why they could not be asked for anew.
    private var anewFailure: TransferError?
    /// When they could not be had.
    private var failedAt: Timestamp?
    /// When a program was asked for other keys because a server refused what it had printed.
    private var otherKeysAskedAt: Timestamp?
    /// Files in line go on when the question has its answer.
    private var isAwaited = false
    /// Those that others took the place of, the latest last: a request that showed them may still be under way, and its answer repeat them.
    private var replaced: [(secrets: TransferSecrets, shown: Shown)] = []
    /// A program may print others each minute.
    private static let mostReplaced = 4

    init(_ order: BatchOrder) {
        (secrets, lacks) = (order.secrets, order.lacks)
        netrcHost =
            switch RemotePlace(order.destination, query: order.destinationQuery, s3: order.options.s3)?.address {
            case let address as HTTPAddress: address.host
            case let address as FTPAddress: address.host
            default: nil
            }
        shown = Self.given(order)
    }

    private static func given(_ order: BatchOrder) -> Shown {
        // Without what was given for it nothing of the batch may go out: an upload would arrive where anybody may write.
        if let lost = TransferError.lost(order.lacks, of: order.batch) { return .failed(lost) }
        let secrets = order.secrets
        if let refusal = secrets.refusal {
            return .failed(
                TransferError(.permissionDenied, refusal, .step("give it anew with 'martlet set \(order.batch)'")))
        }
        if secrets.areAskedFor { return .unknown }
        return secrets.user.map { .user($0, password: secrets.password ?? "") } ?? .none
    }

    /// The batch's settings were changed while it runs.
    /// - Returns: whether what lets it in was given anew.
    mutating func adopt(_ order: BatchOrder) -> Bool {
        guard order.secrets != secrets || order.lacks != lacks else { return false }
        keepReplaced()
        (secrets, lacks) = (order.secrets, order.lacks)
        generation.keys += 1
        generation.secrets += 1
        shown = Self.given(order)
        scheme = .basic
        (asking, isStale, anewFailure) = (nil, false, nil)
        return true
    }

    // MARK: Standing

    private var isUnknown: Bool { if case .unknown = shown { true } else { false } }

    /// No request may go out: it would be nobody's.
    var lacksLogin: Bool {
        switch shown {
        case .unknown, .failed: true
        case .none, .user, .netrc, .s3: false
        }
    }

    /// They are to be asked for before a file begins.
    var isWanted: Bool { isUnknown || isStale }

    /// The reason why no file begins: there is nothing to show.
    var failure: TransferError? { if case .failed(let error) = shown { error } else { anewFailure } }

    /// The name and password for a host.
    func login(at host: String) -> HTTPCredentials? {
        Self.login(shown, secrets, at: host).map {
            HTTPCredentials(user: $0.user, password: $0.password, scheme: scheme)
        }
    }

    private static func login(
        _ shown: Shown, _ secrets: TransferSecrets, at host: String
    ) -> (user: String, password: String)? {
        switch shown {
        case .user(let user, let password): (user, password)
        case .netrc(let netrc): netrc.entry(for: host, user: secrets.user).map { ($0.user, $0.password) }
        case .unknown, .none, .s3, .failed: nil
        }
    }

    /// The keys for S3: printed by the batch's program, queued with it, or its user name and password (which a command may give).
    var keys: S3Keys? {
        if case .s3(let keys) = shown { return keys }
        if let keys = secrets.s3 { return keys }
        guard case .user(let id, let secret) = shown, !id.isEmpty, !secret.isEmpty else { return nil }
        return S3Keys(accessKeyID: id, secretAccessKey: secret)
    }

    /// Adds those that are shown, and those that were before them.
    func add(to redaction: inout Redaction, at host: String) {
        for (secrets, shown) in replaced + [(secrets, shown)] {
            secrets.add(to: &redaction)
            if let login = Self.login(shown, secrets, at: host) {
                redaction.add(user: login.user, password: login.password)
            }
            if case .s3(let keys) = shown { for word in keys.secretWords { redaction.add(password: word) } }
        }
    }

    private mutating func keepReplaced() {
        if isUnknown { return }
        replaced = (replaced + [(secrets, shown)]).suffix(Self.mostReplaced)
    }

    /// The batch shows who asks, so no token is looked for.
    var bringsLogin: Bool {
        if case .none = shown { secrets.authorizes } else { true }
    }

    // MARK: Asking

    /// The question that goes on, or a new one.
    mutating func question(_ ask: (TransferSecrets) -> Question) -> Question {
        if let asking { return asking }
        let question = ask(secrets)
        asking = question
        return question
    }

    /// Takes the answer to a question.
    /// - Returns: false: it is to be asked again; a person gave others meanwhile, or there was no room to ask.
    mutating func take(_ found: CredentialSource.Found, from question: Question, at now: Timestamp) -> Bool {
        guard asking == question else { return !isWanted }
        (asking, failedAt) = (nil, nil)
        let found = checked(found)
        switch found {
        case .user, .netrc, .s3: keepReplaced()
        case .notNow, .failed: break
        }
        switch found {
        case .notNow: return false
        case .user(let user, let password): shown = .user(user, password: password)
        case .netrc(let netrc): shown = .netrc(netrc)
        case .s3(let keys): shown = .s3(keys)
        case .failed(let error):
            failedAt = now
            if isUnknown { shown = .failed(error) } else { anewFailure = error }
        }
        isStale = false
        return true
    }

    /// A netrc file that a person has named and that says nothing of the server: an upload would arrive as nobody's.
    private func checked(_ found: CredentialSource.Found) -> CredentialSource.Found {
        guard case .netrc(let netrc) = found, let host = netrcHost, let file = secrets.netrcFile, !secrets.authorizes,
            netrc.entry(for: host, user: secrets.user) == nil
        else { return found }
        return .failed(
            TransferError(
                .permissionDenied, "\(file.displayed) has no login for \(host)",
                .andRetry("add the line 'machine \(host) login USER password PASSWORD'")))
    }

    /// Files in line begin to wait for the answer. - Returns: false: they do already.
    mutating func beginWaiting() -> Bool {
        defer { isAwaited = true }
        return !isAwaited
    }

    mutating func endWaiting() { isAwaited = false }

    // MARK: Asking anew

    private mutating func askAnew() {
        // Somebody asks already; what is lost, or refused as it stands, no question brings back.
        if asking != nil || !lacks.isEmpty || secrets.refusal != nil { return }
        anewFailure = nil
        switch shown {
        case .failed: shown = .unknown
        case .unknown: break
        case .none, .user, .netrc, .s3: isStale = true
        }
    }

    /// Has them asked for next time: a person may have changed the password since.
    mutating func forget() { if secrets.areAskedFor || failure != nil && secrets.s3Command != nil { askAnew() } }

    /// Has those that could not be had asked for next time.
    mutating func forgetFailure() { if failure != nil { forget() } }

    /// Has keys that a program prints asked for again when those at hand are over.
    mutating func forgetKeys(at now: Timestamp) {
        guard secrets.s3Command != nil, !isStale, mayAskAgain(at: now) else { return }
        if failure != nil || keys?.isGood(at: now) == false { askAnew() }
    }

    /// A command that failed is not asked by each file: once a minute finds out whether that has changed.
    func mayAskAgain(at now: Timestamp) -> Bool {
        failedAt.map { !(0..<60_000).contains(now.milliseconds - $0.milliseconds) } ?? true
    }

    // MARK: After a refusal

    /// Keys that a program printed were refused. Others are asked for once a minute, or a server that takes none of them would be asked
    /// without end.
    /// - Returns: whether others may please the server.
    mutating func askForOtherKeys(at now: Timestamp) -> Bool {
        guard secrets.s3Command != nil, otherKeysAskedAt.map({ now.since($0) > .seconds(60) }) ?? true else {
            return false
        }
        otherKeysAskedAt = now
        askAnew()
        generation.keys += 1
        return true
    }

    /// A 401 came. A server that takes Basic alone has seen the name and password.
    /// - Returns: whether it names a way to show them that has not been tried.
    mutating func tryAsAsked(_ answer: HTTPAnswer?) -> Bool {
        let challenges = answer?.headers.filter { $0.name.lowercased().hasSuffix("-authenticate") } ?? []
        let others = ["digest", "ntlm", "negotiate"]
        guard challenges.contains(where: { field in others.contains { field.value.lowercased().contains($0) } }) else {
            return false
        }
        switch shown {
        case .user, .netrc: break
        case .unknown, .none, .s3, .failed: return false
        }
        guard scheme == .basic else { return false }
        scheme = .asAsked
        return true
    }
}

extension TransferSecrets {
    /// A header field of the person's own says who asks.
    fileprivate var authorizes: Bool { headers.contains { $0.name.lowercased() == "authorization" } }

    /// A password command or a netrc file tells the credentials.
    fileprivate var areAskedFor: Bool {
        switch source {
        case .command, .netrcFile: true
        case .nothing, .typed, .keys, .keyProgram: false
        }
    }
}

extension TransferError {
    /// The error of a batch whose secrets the secrets store has lost; `nil`: none is lost.
    static func lost(_ lacks: Set<KeptSecret>, of batch: BatchID) -> TransferError? {
        if lacks.isEmpty { return nil }
        let words = KeptSecret.lostWords(lacks)
        guard lacks.allSatisfy(\.isGivenAgain) else {
            return TransferError(
                .permissionDenied, words,
                .queued("queue it again with the whole address and all that it needs, and cancel this one"))
        }
        return TransferError(
            .permissionDenied, words,
            .step("give it again with 'martlet set \(batch)' and \(KeptSecret.options(lacks))"))
    }

    /// The error of a download whose address had a query that is lost.
    static let lostQuery = TransferError(
        .permissionDenied, "the query of its address was lost with secrets.sqlite",
        .queued("queue it again with the whole address, and cancel this one"))
}
