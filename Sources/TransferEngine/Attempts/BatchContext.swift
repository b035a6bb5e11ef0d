import CurlTransport
import LinuxSystem
import SSHTransport
import TransferModel
import TransferProtocols
import TransferQueue
import WireOperations

/// The order and credentials that all tasks of a batch share while some of them are at hand. Holds secrets; never printed.
/// On the engine's loop.
final class BatchContext {
    /// The credentials that are shown to the server, beside given header fields.
    enum Credentials {
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

    private(set) var order: BatchOrder
    /// Counts how often what lets the batch in was given anew, or is to be asked for anew after a refusal.
    private(set) var keysGeneration = 0
    /// Counts how often a person gave what lets it in.
    private(set) var secretsGeneration = 0
    /// When a program was asked for other keys because a server refused what it had printed.
    private var renewedAt: Timestamp?
    /// The place that uploads go to; `nil` for downloads.
    let destination: RemotePlace?
    private(set) var credentials: Credentials {
        didSet { lastSSHTarget = nil }
    }
    /// The question for credentials that goes on.
    private(set) var asking: Task<CredentialSource.Found, Never>?
    /// They are asked for anew before another file begins. What runs goes on showing those at hand: one file's refusal takes nobody's
    /// login away.
    private var isStale = false
    /// The reason why they could not be asked for anew.
    private var renewalFailure: TransferError?
    /// The answer to the last question for one: every operation asks.
    private var lastSSHTarget: (host: String, port: Int?, agent: RawPath?, target: SSHTarget)?
    /// The way in which a name and password are shown: at once, until a server refuses that.
    private var scheme = HTTPCredentials.Scheme.basic
    /// The connection settings that the batch's options decide.
    private var base: ConnectionSettings
    private let timeouts: RequestTimeouts
    private let userAgent: String
    private let receivers: ReceiverTokens
    /// The authorities whose certificates it believes.
    var trust: Trust
    /// Those who wait for a file of authorities (`TransferEngine.readAuthorities`), and the files that are being read.
    var authoritiesWaiters: [(path: RawPath, waiter: AuthoritiesWaiter, timer: LoopTimer)] = []
    var authoritiesBeingRead: Set<RawPath> = []
    /// Failed TLS handshakes in a row.
    var handshakes = 0
    /// By origin; of its secrets.
    var logins: [String: Login] = [:]
    /// Bytes of refusals that are still kept as the server wrote them: a page for each of a million files would fill the disk. Of further ones
    /// only their status is; the failure's own message has the server's first words in any case.
    private var refusalRoom = 64 << 20
    /// The same of answers to files that were taken, which their sender may want to read.
    private var receiptRoom = 256 << 20
    /// Its credentials are being asked for, and what stands in line goes on with them.
    var isAwaited = false

    /// Takes the part of a refusal that is kept for people to read.
    func keep(refusal answer: HTTPAnswer, body: [UInt8]) -> TransferResponse {
        guard refusalRoom > 0 else { return TransferResponse(status: answer.status, headers: [], body: nil) }
        let response = TransferResponse(answer, body: body)
        refusalRoom -= response.keptBytes
        return response
    }

    /// Takes the part of an answer to a file that was taken that is kept for people to read.
    func keep(receipt response: TransferResponse) -> TransferResponse {
        guard receiptRoom > 0 else { return TransferResponse(status: response.status, headers: [], body: nil) }
        receiptRoom -= response.keptBytes
        return response
    }

    init(_ order: BatchOrder, userAgent: String, receivers: ReceiverTokens = ReceiverTokens(in: nil)) {
        self.order = order
        self.receivers = receivers
        self.userAgent = userAgent
        destination = RemotePlace(order.destination, query: order.destinationQuery, s3: order.options.s3)
        credentials = Self.credentials(order)
        let options = order.options
        base = ConnectionSettings(options)
        trust = Trust(in: options.caFile)
        var timeouts = RequestTimeouts()
        let patience = Duration.seconds(max(1, options.requestTimeoutSeconds))
        timeouts.stall = patience
        // A server may digest gigabytes after the last byte; who asked for less patience gets it there, too.
        if patience != TransferOptions().requestTimeout { timeouts.answer = patience }
        timeouts.connect = min(timeouts.connect, patience)
        self.timeouts = timeouts
    }

    private static func credentials(_ order: BatchOrder) -> Credentials {
        // Without what was given for it nothing of the batch may go out: an upload would arrive where anybody may write.
        if let lost = TransferError.lost(order.lacks, of: order.batch) { return .failed(lost) }
        let secrets = order.secrets
        if let refusal = secrets.refusal {
            return .failed(
                TransferError(.permissionDenied, refusal, .step("give it anew with 'martlet set \(order.batch)'")))
        }
        if asks(secrets) { return .unknown }
        return secrets.user.map { .user($0, password: secrets.password ?? "") } ?? .none
    }

    /// Returns true when a password command or a netrc file tells the credentials.
    private static func asks(_ secrets: TransferSecrets) -> Bool {
        secrets.passwordCommand != nil || (secrets.netrcFile != nil && secrets.password == nil)
    }

    /// Its settings, or what lets it in, were changed while it runs.
    func adopt(_ order: BatchOrder) {
        let isLetInAnew = order.secrets != self.order.secrets || order.lacks != self.order.lacks
        self.order = order
        base = ConnectionSettings(order.options)
        trust.set(file: order.options.caFile)
        guard isLetInAnew else { return }
        keysGeneration += 1
        secretsGeneration += 1
        scheme = .basic
        credentials = Self.credentials(order)
        (asking, isStale, renewalFailure) = (nil, false, nil)
        logins = [:]
    }

    // MARK: Credentials

    /// Nothing can be shown yet.
    var lacksCredentials: Bool {
        if case .unknown = credentials { true } else { false }
    }

    /// No request may go out: it would be nobody's.
    var lacksLogin: Bool {
        switch credentials {
        case .unknown, .failed: true
        case .none, .user, .netrc, .s3: false
        }
    }

    /// When they could not be had.
    private var failedAt: Timestamp?

    /// They are to be asked for before a file begins.
    var wantsCredentials: Bool { lacksCredentials || isStale }

    /// The reason why no file begins: there is nothing to show.
    var failure: TransferError? {
        if case .failed(let error) = credentials { error } else { renewalFailure }
    }

    /// The question for credentials: the one that goes on, or a new one.
    func askForCredentials() -> Task<CredentialSource.Found, Never> {
        if let asking { return asking }
        let secrets = order.secrets
        let question = Task { await CredentialSource.find(secrets) }
        asking = question
        return question
    }

    /// Takes the answer to a question.
    /// - Returns: false: it is to be asked again; a person gave others meanwhile, or there was no room to ask.
    func take(
        _ found: CredentialSource.Found, from question: Task<CredentialSource.Found, Never>, at now: Timestamp
    ) -> Bool {
        guard asking == question else { return !wantsCredentials }
        asking = nil
        failedAt = nil
        switch found {
        case .notNow: return false
        case .user(let user, let password): credentials = .user(user, password: password)
        case .netrc(let netrc): credentials = .netrc(netrc)
        case .s3(let keys): credentials = .s3(keys)
        case .failed(let error):
            failedAt = now
            if lacksCredentials { credentials = .failed(error) } else { renewalFailure = error }
        }
        isStale = false
        return true
    }

    private func renewCredentials() {
        // Somebody asks already; what is lost, or refused as it stands, no question brings back.
        if asking != nil || !order.lacks.isEmpty || order.secrets.refusal != nil { return }
        renewalFailure = nil
        switch credentials {
        case .failed: credentials = .unknown
        case .unknown: break
        case .none, .user, .netrc, .s3: isStale = true
        }
    }

    /// Takes what was read of a file of authorities. - Returns: those who waited for that file.
    func take(
        _ found: AuthoritiesReader.Found, of path: RawPath, at now: Timestamp
    ) -> [(path: RawPath, waiter: AuthoritiesWaiter, timer: LoopTimer)] {
        authoritiesBeingRead.remove(path)
        trust.take(found, of: path, at: now)
        let served = authoritiesWaiters.filter { $0.path == path }
        authoritiesWaiters.removeAll { $0.path == path }
        return served
    }

    /// Asks anew next time: a person may have changed the password since.
    func forgetCredentials() {
        if Self.asks(order.secrets) || failure != nil && order.secrets.s3Command != nil { renewCredentials() }
    }

    /// Keys that a program prints are asked for again when those at hand are over.
    func forgetKeys(at now: Timestamp) {
        guard order.secrets.s3Command != nil, !isStale, mayAskAgain(at: now) else { return }
        if failure != nil || keys?.isGood(at: now) == false { renewCredentials() }
    }

    /// A command that failed is not asked by each file: once a minute finds out whether that has changed.
    func mayAskAgain(at now: Timestamp) -> Bool {
        failedAt.map { !(0..<60_000).contains(now.milliseconds - $0.milliseconds) } ?? true
    }

    /// After a refusal of keys that a program printed: whether others may please the server. Once a minute, or a server that takes none of
    /// them would be asked without end.
    func renewsKeys(at now: Timestamp) -> Bool {
        guard order.secrets.s3Command != nil, renewedAt.map({ now.since($0) > .seconds(60) }) ?? true else {
            return false
        }
        renewedAt = now
        renewCredentials()
        keysGeneration += 1
        return true
    }

    /// After a 401: whether the server names a way to show the credentials that has not been tried. One that takes Basic alone has seen them.
    func triesAsAsked(_ answer: HTTPAnswer?) -> Bool {
        let challenges = answer?.headers.filter { $0.name.lowercased().hasSuffix("-authenticate") } ?? []
        let others = ["digest", "ntlm", "negotiate"]
        guard challenges.contains(where: { field in others.contains { field.value.lowercased().contains($0) } }) else {
            return false
        }
        switch credentials {
        case .user, .netrc: break
        case .unknown, .none, .s3, .failed: return false
        }
        guard scheme == .basic else { return false }
        scheme = .asAsked
        return true
    }

    /// The keys for S3: printed by the batch's program, queued with it, or its user name and password (which a command may give).
    private var keys: S3Keys? {
        if case .s3(let keys) = credentials { return keys }
        if let keys = order.secrets.s3 { return keys }
        guard case .user(let id, let secret) = credentials, !id.isEmpty, !secret.isEmpty else { return nil }
        return S3Keys(accessKeyID: id, secretAccessKey: secret)
    }

    /// The name that a destination without a slash at its end gives its one file.
    var fileName: RawPath { destination?.address.fileName ?? RawPath("") }

    /// The request that an exchange comes to.
    /// - Parameter now: by the server's clock, for a signature.
    func request(_ exchange: HTTPExchange, body: HTTPBody, at now: Timestamp) -> HTTPRequest {
        let given = headers(of: exchange)
        var fields = [HeaderField("User-Agent", userAgent)] + given
        let isSigned = exchange.signing != nil
        if let signing = exchange.signing, let keys {
            fields += signing.signer.fields(for: exchange, headers: given, keys: keys, at: now)
        }
        var request = HTTPRequest(exchange.method.rawValue, exchange.url.text, fields: fields, body: body)
        switch exchange.sink {
        case .gated, .listing: request.response = .gated
        case .kept: request.response = .buffer(limit: TransferResponse.longestBody)
        case .document(let limit): request.response = .buffer(limit: limit)
        }
        request.connection = connection(
            protocol: exchange.url.scheme, host: exchange.url.host, showsUser: exchange.mayCarrySecrets && !isSigned)
        if exchange.mayCarrySecrets, !isSigned, let token = receiverToken(for: exchange.url) {
            request.fields.append(HeaderField("Authorization", "Bearer \(token)"))
            request.connection.onlyToOwnListener = true
            // A proxy would be shown the token.
            request.connection.proxy = .none
        }
        request.timeouts = timeouts
        if exchange.patience == .assembling { request.timeouts.answer = max(timeouts.answer, .seconds(1800)) }
        // A PUT that was carried out and is sent again unseen would find its own file in the way.
        if exchange.body != .none { request.mayRepeat = false }
        return request
    }

    /// The token that a receiver of this user asks for; `nil` where the batch brings a login of its own, or none is kept.
    private func receiverToken(for url: HTTPAddress) -> String? {
        bringsLogin ? nil : receivers.token(for: url)
    }

    /// After a refusal: whether a receiver of this user keeps another token there by now.
    func findsOtherToken(for url: HTTPAddress) -> Bool { !bringsLogin && receivers.isRenewed(for: url) }

    private var bringsLogin: Bool {
        if case .none = credentials {
            return order.secrets.headers.contains { $0.name.lowercased() == "authorization" }
        }
        return true
    }

    /// The protocol's fields and the user's own. A type that the protocol names stands alone: where it is the file's, it is the user's
    /// already (`UploadSubject.contentType`); where it is that of a message, no other would be understood.
    private func headers(of exchange: HTTPExchange) -> [HeaderField] {
        guard exchange.mayCarrySecrets, !order.secrets.headers.isEmpty else { return exchange.headers }
        let isTyped = exchange.headers.contains(where: \.isContentType)
        return exchange.headers + order.secrets.headers.filter { !isTyped || !$0.isContentType }
    }

    /// A request to an FTP server.
    func request(_ operation: FTPOperation, at address: FTPAddress) -> FTPRequest {
        var request = FTPRequest(
            FTPServer(
                address.security, host: address.host, port: address.port,
                connection: connection(protocol: "ftp", host: address.host, showsUser: true)),
            operation)
        request.timeouts = timeouts
        return request
    }

    /// Whom `ssh` is to reach; `nil` for a command that cannot be split into words.
    func sshTarget(host: String, port: Int?, agent: RawPath?) -> SSHTarget? {
        if let last = lastSSHTarget, last.host == host, last.port == port, last.agent == agent { return last.target }
        guard let target = newSSHTarget(host: host, port: port, agent: agent) else { return nil }
        lastSSHTarget = (host, port, agent, target)
        return target
    }

    private func newSSHTarget(host: String, port: Int?, agent: RawPath?) -> SSHTarget? {
        guard let command = SSHCommand.words(Array((order.options.sshCommand ?? "ssh").utf8)) else { return nil }
        // ssh takes an address without its brackets.
        let name = host.hasPrefix("[") ? String(host.dropFirst().prefix { $0 != "]" }) : host
        var target = SSHTarget(command: command, host: name, port: port.flatMap { UInt16(exactly: $0) })
        switch credentials {
        case .user(let user, let password):
            target.user = user.isEmpty ? nil : user
            target.password = password.isEmpty ? nil : Array(password.utf8)
        case .netrc(let netrc):
            let entry = netrc.entry(for: host, user: order.secrets.user)
            target.user = entry?.user
            target.password = entry.flatMap { $0.password.isEmpty ? nil : Array($0.password.utf8) }
        case .unknown, .none, .s3, .failed: break
        }
        if let agent { target.environment = [Array("SSH_AUTH_SOCK=".utf8) + agent.bytes] }
        return target
    }

    private func connection(protocol name: String, host: String, showsUser: Bool) -> ConnectionSettings {
        var settings = base
        settings.authorities = trust.authorities
        settings.proxy = proxy(protocol: name)
        guard showsUser else { return settings }
        switch credentials {
        case .user(let user, let password):
            settings.credentials = HTTPCredentials(user: user, password: password, scheme: scheme)
        case .netrc(let netrc):
            settings.credentials = netrc.entry(for: host, user: order.secrets.user).map {
                HTTPCredentials(user: $0.user, password: $0.password, scheme: scheme)
            }
        case .unknown, .none, .s3, .failed: break
        }
        return settings
    }

    private func proxy(protocol name: String) -> ProxyPolicy {
        let proxies = order.options.proxies(with: order.secrets)
        guard !proxies.isEmpty else { return .none }
        func value(_ name: String) -> String? {
            (proxies[name] ?? proxies[name.uppercased()]).flatMap { $0.isEmpty ? nil : $0 }
        }
        guard let url = value(name + "_proxy") ?? value("all_proxy") else { return .none }
        return .url(url, except: value("no_proxy"))
    }
}

extension ConnectionSettings {
    /// The settings that decide, beside the authorities, which servers a batch trusts.
    fileprivate init(_ options: TransferOptions) {
        self.init()
        pinnedKey = options.pin
        verifiesServer = !options.insecure
    }
}

extension TransferOptions {
    fileprivate var requestTimeout: Duration { .seconds(requestTimeoutSeconds) }
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
