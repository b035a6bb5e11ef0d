import LinuxSystem

/// By which names and addresses the receiver may be called.
///
/// A page of a stranger can have its own name lead to this machine (DNS rebinding); what the browser then sends has the page's name in
/// `Host`. And a page can send requests to our address; what the browser sends then has the page's `Origin`. Neither is ours.
struct OwnNames: Sendable {
    private let scheme: String
    private let port: UInt16
    private let names: Set<String>
    /// The address that is listened to; `nil`: all of this machine's.
    private let address: [UInt8]?
    private let given: [RequestAuthority]

    /// - Parameter machine: the name of this machine.
    init(_ listen: ListenAddress, isTLS: Bool, machine: String, given: [RequestAuthority] = []) {
        scheme = isTLS ? "https" : "http"
        port = listen.port
        self.given = given
        var names: Set<String> = []
        if listen.isLoopback || listen.isWide { names.insert("localhost") }
        let machine = machine.lowercased()
        if !listen.isLoopback, !machine.isEmpty {
            let short = String(machine.prefix { $0 != "." })
            names.formUnion([machine, short, short + ".local"])
        }
        self.names = names
        address = listen.isWide ? nil : InternetSocket.bytes(ofAddress: listen.host)
    }

    /// Returns true when a request may name its server by this authority.
    ///
    /// - Parameter local: the address at which its connection came in; `nil` when that is not known.
    func include(_ authority: RequestAuthority, local: @autoclosure () -> [UInt8]?) -> Bool {
        if given.contains(where: { $0.host == authority.host && ($0.port == nil || $0.port == authority.port) }) {
            return true
        }
        guard (authority.port ?? usualPort) == port else { return false }
        switch authority.host {
        case .name(let name): return names.contains(name)
        case .address(let bytes): return bytes == address ?? local()
        }
    }

    /// Returns true when a page of this origin is one of ours; `null`, which a page without an origin sends, is none.
    func include(origin: String, local: @autoclosure () -> [UInt8]?) -> Bool {
        let prefix = scheme + "://"
        guard origin.lowercased().hasPrefix(prefix),
            let authority = RequestAuthority(origin.dropFirst(prefix.count))
        else { return false }
        return include(authority, local: local())
    }

    private var usualPort: UInt16 { scheme == "https" ? 443 : 80 }
}
