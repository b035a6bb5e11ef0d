import LinuxSystem

/// Decides which requests are let in: all checks that come before a request means anything.
struct Doorkeeper: Sendable {
    private let names: OwnNames
    private let access: ReceiverConfiguration.Access

    init(_ names: OwnNames, _ access: ReceiverConfiguration.Access) {
        self.names = names
        self.access = access
    }

    /// The answer that turns a request away; `nil` lets it in. Host and Origin come first: to whom a page of a stranger sent the
    /// request nothing is told, not even that a token is missing.
    func refusal(of head: RequestHead) -> Answer? {
        if let fault = head.fields.fault {
            return .problem(.badRequest, fault).with([.closing])
        }
        let local = { (try? InternetSocket.localHost(of: head.socket)).flatMap { InternetSocket.bytes(ofAddress: $0) } }
        switch Self.authorities(of: head) {
        case nil: return .problem(.badRequest, "Host is missing or cannot be read").with([.closing])
        case let named?:
            guard named.allSatisfy({ names.include($0, local: local()) }) else { return .foreignHost.with([.closing]) }
        }
        if let origin = head.fields["origin"], !names.include(origin: origin, local: local()) {
            return .problem(.forbidden, "requests that a page of another origin makes are not taken").with([.closing])
        }
        guard access.admits(head.fields["authorization"]) else {
            return .problem(.unauthorized, "a bearer token is needed").with([.bearerChallenge])
        }
        return nil
    }

    /// Every name that the request gives its server; `nil` when one cannot be read, or there is none where there must be one.
    private static func authorities(of head: RequestHead) -> [RequestAuthority]? {
        var named: [RequestAuthority] = []
        if let text = TargetPath.authority(inTarget: head.target) {
            guard let authority = RequestAuthority(text) else { return nil }
            named.append(authority)
        }
        if let text = head.fields["host"] {
            guard let authority = RequestAuthority(trimmed(text)) else { return nil }
            named.append(authority)
        } else if !head.isHTTP10 {
            return nil
        }
        return named
    }
}

extension Answer {
    fileprivate static let foreignHost = Answer.problem(
        .misdirected, "this is not a name of this receiver: use the URL that it printed, or start it with --host NAME")
}

extension Answer.Field {
    /// The connection is of no use any more.
    static let closing = Answer.Field(name: "Connection", value: "close")
}
