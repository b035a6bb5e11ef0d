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
    private(set) var order: BatchOrder
    /// The place that uploads go to; `nil` for downloads.
    let destination: RemotePlace?
    var credentials: CredentialState {
        didSet { lastSSHTarget = nil }
    }
    /// The answer to the last question for one: every operation asks.
    private var lastSSHTarget: (host: String, port: Int?, agent: RawPath?, target: SSHTarget)?
    /// The connection settings that the batch's options decide.
    private var base: ConnectionSettings
    private let timeouts: RequestTimeouts
    private let userAgent: String
    private let receivers: ReceiverTokens
    /// The authorities whose certificates it believes.
    var trust: Trust
    var authoritiesLine = AuthoritiesLine()
    var handshakes = HandshakeFailures()
    /// By origin; of its secrets.
    var logins: [String: Login] = [:]
    var answerRoom = AnswerRoom()

    init(_ order: BatchOrder, userAgent: String, receivers: ReceiverTokens = ReceiverTokens(in: nil)) {
        self.order = order
        self.receivers = receivers
        self.userAgent = userAgent
        destination = RemotePlace(order.destination, query: order.destinationQuery, s3: order.options.s3)
        credentials = CredentialState(order)
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

    /// Its settings, or what lets it in, were changed while it runs.
    func adopt(_ order: BatchOrder) {
        self.order = order
        base = ConnectionSettings(order.options)
        trust.set(file: order.options.caFile)
        if credentials.adopt(order) { logins = [:] }
    }

    /// The name that a destination without a slash at its end gives its one file.
    var fileName: RawPath { destination?.address.fileName ?? RawPath("") }

    /// The request that an exchange comes to.
    /// - Parameters:
    ///   - now: by the server's clock, for a signature.
    ///   - zone: the least private of those servers that may have named it; `nil`: it is not known.
    func request(
        _ exchange: HTTPExchange, body: HTTPBody, at now: Timestamp, namedIn zone: AddressZone? = nil
    ) -> HTTPRequest {
        let headers = headers(of: exchange)
        let isNamed = headers.contains { $0.name.lowercased() == "user-agent" }
        var fields = isNamed ? headers : [HeaderField("User-Agent", userAgent)] + headers
        let isSigned = exchange.signing != nil
        if let signing = exchange.signing, let keys = credentials.keys {
            fields += signing.signer.fields(for: exchange, headers: headers, keys: keys, at: now)
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
        // A server has named the address: one outside must not lead us to what trusts those inside.
        if !exchange.mayCarrySecrets { request.mostPrivateZone = zone }
        request.timeouts = timeouts
        switch exchange.patience {
        case .short: request.timeouts.answer = min(timeouts.answer, timeouts.stall)
        case .usual: break
        case .assembling: request.timeouts.answer = max(timeouts.answer, .seconds(1800))
        }
        // A PUT that was carried out and is sent again unseen would find its own file in the way.
        if exchange.body != .none { request.mayRepeat = false }
        return request
    }

    /// The token that a receiver of this user asks for; `nil` where the batch brings a login of its own, or none is kept.
    private func receiverToken(for url: HTTPAddress) -> String? {
        credentials.bringsLogin ? nil : receivers.token(for: url)
    }

    /// After a refusal: whether a receiver of this user keeps another token there by now.
    func findsOtherToken(for url: HTTPAddress) -> Bool {
        !credentials.bringsLogin && receivers.isRenewed(for: url)
    }

    /// The protocol's fields and the user's own. A field that the protocol writes stands alone: a type or key of the file is made of the
    /// user's already (`UploadSubject.contentType`, `PostPlan.key`), and of a message no other would be understood. A given
    /// `Idempotency-Key` is sent by `PostUpload` alone, which makes the file's key of it.
    private func headers(of exchange: HTTPExchange) -> [HeaderField] {
        guard exchange.mayCarrySecrets, !order.secrets.headers.isEmpty else { return exchange.headers }
        let own = Set(exchange.headers.map { $0.name.lowercased() })
        let given = order.secrets.headers.filter { field in
            !own.contains(field.name.lowercased()) && !field.isIdempotencyKey
        }
        guard let signer = exchange.signing?.signer else { return exchange.headers + given }
        return exchange.headers + given.filter { signer.takes($0, with: exchange) }
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

    /// The host that `ssh` is to reach; `nil` for a command that cannot be split into words.
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
        switch credentials.shown {
        case .user(let user, let password):
            target.user = user.isEmpty ? nil : user
            target.password = password.isEmpty ? nil : Array(password.utf8)
        case .netrc(let netrc):
            let entry = netrc.entry(for: host, user: order.secrets.user)
            target.user = entry.flatMap { $0.user.isEmpty ? nil : $0.user }
            target.password = entry.flatMap { $0.password.isEmpty ? nil : Array($0.password.utf8) }
        case .unknown, .none, .s3, .failed: break
        }
        if let agent { target.environment = [Array("SSH_AUTH_SOCK=".utf8) + agent.bytes] }
        return target
    }

    /// The secrets that a task's requests show, to take them out of what the answers say.
    /// - Parameter origin: of the server, with its port or without.
    func redaction(of work: ClaimedTask.Work, at origin: String) -> Redaction {
        let place = origin.firstRange(of: "://").map { origin[$0.upperBound...] } ?? origin[...]
        // An address of IPv6 has colons of its own, in brackets.
        let host = place.hasSuffix("]") ? String(place) : String(place[..<(place.lastIndex(of: ":") ?? place.endIndex)])
        var redaction = Redaction()
        credentials.add(to: &redaction, at: host)
        if let query = order.destinationQuery { redaction.add(query: query) }
        if case .download(let url, _, _) = work, let mark = url.firstIndex(of: "?") {
            redaction.add(query: String(url[url.index(after: mark)...]))
        }
        return redaction
    }

    private func connection(protocol name: String, host: String, showsUser: Bool) -> ConnectionSettings {
        var settings = base
        settings.authorities = trust.authorities
        settings.proxy = proxy(protocol: name, host: host)
        if showsUser { settings.credentials = credentials.login(at: host) }
        return settings
    }

    private func proxy(protocol name: String, host: String) -> ProxyPolicy {
        let proxies = order.options.proxies(with: order.secrets)
        guard !proxies.isEmpty else { return .none }
        func value(_ name: String) -> String? {
            (proxies[name] ?? proxies[name.uppercased()]).flatMap { $0.isEmpty ? nil : $0 }
        }
        guard let url = value(name + "_proxy") ?? value("all_proxy") else { return .none }
        let isExcepted = value("no_proxy").map { ProxyExceptions($0).contains(host) } ?? false
        return isExcepted ? .none : .url(url)
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
