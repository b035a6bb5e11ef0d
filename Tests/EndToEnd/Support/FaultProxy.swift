import Testing

/// A proxy before a server that breaks connections as told. `log()` says what ended connections carried and suffered.
final class FaultProxy: Server {
    init(_ sandbox: Sandbox, before server: Server, rules: String...) throws {
        try super.init("faultproxy", sandbox, folder: "faultproxy", settings: ["TARGET=\(server.address)"])
        try set(rules)
    }

    /// Before any address.
    init(_ sandbox: Sandbox, target: String, folder: String = "faultproxy") throws {
        try super.init("faultproxy", sandbox, folder: folder, settings: ["TARGET=\(target)"])
    }

    /// Before an FTP server: on another address, so that its passive ports are passed on one to one.
    init(_ sandbox: Sandbox, beforeFTP server: Server) throws {
        let first = (Int(server.port) ?? 0) + 1
        try super.init(
            "faultproxy", sandbox, folder: "faultproxy",
            settings: ["TARGET=\(server.address)", "LISTEN=127.0.0.2", "PORTS=\(first)-\(first + 39)"],
            port: server.port)
    }

    /// Sets the rules for connections from now on; none: a plain proxy.
    func set(_ rules: String...) throws { try set(rules) }
    func set(_ rules: [String]) throws { try run(["rules", folder] + rules) }

    /// The ended connections: `n port at up down fault seconds`.
    func log() throws -> [JSON] {
        let path = "\(folder)/connections"
        guard fileExists(path) else { return [] }
        return try readText(path).split(separator: "\n").map { try JSON(parsing: String($0)) }
    }

    /// The log once no connection is open any more: whoever calls has ended both sides, or one.
    func finalLog(sourceLocation: SourceLocation = #_sourceLocation) throws -> [JSON] {
        try awaitClosed(sourceLocation: sourceLocation)
        return try log()
    }

    /// Waits until no connection is open.
    func awaitClosed(sourceLocation: SourceLocation = #_sourceLocation) throws {
        try waitUntil("the proxy has no open connections", sourceLocation: sourceLocation) {
            try !fileExists("\(folder)/open") || readText("\(folder)/open") == "0\n"
        }
    }
}
