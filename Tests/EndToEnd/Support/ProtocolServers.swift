import Glibc
import Testing
import TransferModel

/// A tus server that nobody here wrote. An upload's bytes lie under a name that the server chose.
final class TusServer: Server {
    enum Program {
        /// Keeps what a cut brought; no checksums.
        case tuspyserver
        /// Takes each request whole into memory first; has checksums, concatenation, termination and expiration.
        case resumableUpload
    }

    private let program: Program

    init(_ sandbox: Sandbox, _ program: Program = .tuspyserver, settings: [String] = []) throws {
        self.program = program
        let words = program == .tuspyserver ? [] : ["IMPL=resumable-upload"]
        try super.init("tus", sandbox, folder: "tus", settings: words + settings)
    }

    /// The uploads that are whole, by the rest of the path that the client gave them, each with its digest. The same path may be there twice.
    func uploads(_ prefix: String = "") throws -> [(path: RawPath, size: Int64, digest: String)] {
        try entries().compactMap { entry in
            guard entry.path.hasPrefix(prefix) else { return nil }
            let bytes = RawPath("\(folder)/data").appending(RawPath(entry.id))
            return (RawPath(String(entry.path.dropFirst(prefix.count))), entry.size, try digest(of: bytes))
        }
    }

    private func entries() throws -> [(id: String, size: Int64, path: String)] {
        switch program {
        case .tuspyserver:
            let data = RawPath("\(folder)/data")
            return try names(in: data).compactMap { name in
                guard let text = name.text, text.hasSuffix(".info") else { return nil }
                let info = try JSON(parsing: readText("\(data)/\(text)"))
                guard let size = info["size"].integer, info["offset"].integer == size,
                    let file = info["metadata"]["filename"].text
                else { return nil }
                return (String(text.dropLast(5)), size, info["metadata"]["relativePath"].text ?? file)
            }
        case .resumableUpload:
            return try run(["uploads", folder]).jsonLines.compactMap { upload in
                guard let id = upload["id"].text, let size = upload["size"].integer, let path = upload["path"].text
                else { return nil }
                return (id, size, path)
            }
        }
    }

    /// Everything that lies there, whole or not.
    var stored: [RawPath] { names(in: RawPath("\(folder)/data")) }

    /// How many requests of a kind it answered.
    func count(_ method: String) throws -> Int {
        try readText("\(folder)/log").split(separator: "\n").count { $0.contains("\"\(method) /files") }
    }
}

/// OpenStack Swift's S3 interface. What it stores is read back by curl.
final class S3Server: Server {
    /// What its one user signs with, as it was started last.
    private(set) var secret = "testsecret"

    init(_ sandbox: Sandbox) throws { try super.init("s3", sandbox, folder: "s3") }

    /// Starts it again, with another secret.
    func restart(secret: String) throws {
        try restart(["SECRET=\(secret)"])
        self.secret = secret
    }

    /// What a client's environment says, when it reaches the server at `address`.
    static func environment(_ address: String, secret: String = "testsecret") -> [String] {
        [
            "AWS_ACCESS_KEY_ID=testkey", "AWS_SECRET_ACCESS_KEY=\(secret)", "AWS_REGION=us-east-1",
            "AWS_ENDPOINT_URL=http://\(address)",
        ]
    }

    /// The objects whose keys begin with the prefix, each by the rest of its key, with its digest.
    func objects(_ prefix: String) throws -> [RawPath: String] {
        let bucket = "http://\(address)/test"
        let listing = try curl([
            "\(bucket)?encoding-type=url&list-type=2&max-keys=1000&prefix=\(Self.escaped(Array(prefix.utf8), "-._~"))"
        ]).output
        let keys = listing.split(separator: "<Key>").dropFirst().map { percentDecoded(String($0.prefix { $0 != "<" })) }
        guard !keys.isEmpty else { return [:] }
        let fetched = RawPath("\(folder)/fetched")
        removeTree(fetched)
        makeFolder(fetched)
        let words = keys.enumerated().map { index, key in
            "url = \"\(bucket)/\(Self.escaped(key))\"\noutput = \"\(fetched)/\(index)\"\n"
        }
        try write(words.joined(), to: "\(folder)/wanted")
        try curl(["-K", "\(folder)/wanted"])
        return try keys.enumerated().reduce(into: [:]) { found, entry in
            let rest = RawPath(Array(entry.element.dropFirst(prefix.utf8.count)))
            found[rest] = try digest(of: fetched.appending(RawPath("\(entry.offset)")))
        }
    }

    /// Takes an object away.
    func remove(_ key: String) throws {
        try curl(["-X", "DELETE", "http://\(address)/test/\(Self.escaped(Array(key.utf8)))"])
    }

    /// Puts another object in its place.
    func put(_ key: String, count: Int) throws {
        let file = RawPath("\(folder)/put")
        try write(SeededBytes.stamped(count, seed: 99), to: file)
        try curl(["-T", file.displayed, "http://\(address)/test/\(Self.escaped(Array(key.utf8)))"])
    }

    @discardableResult
    private func curl(_ words: [String]) throws -> Outcome {
        let signature = [
            "-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD", "--aws-sigv4", "aws:amz:us-east-1:s3", "-u",
            "testkey:\(secret)",
        ]
        // Where sessions have tokens, the present one.
        let file = "\(folder)/session"
        let session = try fileExists(file) ? ["-H", "x-amz-security-token: \(readText(file))"] : []
        let outcome = try sandbox.start("/usr/bin/curl", ["-sSg", "--fail"] + signature + session + words).wait()
        guard outcome.status == 0 else { throw HarnessError("curl: \(outcome)") }
        return outcome
    }

    private static func escaped(_ bytes: [UInt8], _ kept: String = "-._~/") -> String {
        bytes.map { byte in
            let character = Character(Unicode.Scalar(byte))
            if byte < 128, character.isLetter || character.isNumber || kept.contains(character) {
                return String(character)
            }
            let digits = String(byte, radix: 16, uppercase: true)
            return "%" + (digits.count < 2 ? "0" : "") + digits
        }.joined()
    }
}

/// OpenSSH's sshd, for SFTP alone. Its paths are the machine's own.
final class SSHServer: Server {
    init(_ sandbox: Sandbox) throws { try super.init("sshd-sftp", sandbox, folder: "sshd") }

    var data: RawPath { RawPath("\(folder)/data") }

    /// The `--ssh-command` with which a client gets in, also when another address leads there.
    var command: String { "ssh -F \(folder)/ssh_config -o HostKeyAlias=[127.0.0.1]:\(port)" }

    /// The same by way of a proxy, whose port the configuration does not know.
    func command(through proxy: Server) -> String { "\(command) -o Port=\(proxy.port)" }
}

/// One of the FTP servers.
final class FTPServer: Server {
    enum Program: String {
        case vsftpd = "ftpd"
        /// With TLS from the first byte.
        case vsftpdImplicit = "ftpd implicit"
        /// Renames and removes nothing.
        case dropBox = "ftpd dropbox"
        case proFTPD = "ftpd-tls"
        case pyftpdlib = "ftpd-py"
    }

    private let program: Program

    init(_ sandbox: Sandbox, _ program: Program) throws {
        self.program = program
        let words = program.rawValue.split(separator: " ").map(String.init)
        let settings = words.dropFirst().map { "\($0.uppercased())=1" }
        try super.init(words[0], sandbox, folder: words[0], settings: settings)
    }

    var data: RawPath { RawPath("\(folder)/data") }

    /// What a client has to be told.
    var options: [String] {
        let account = ["--user", "test", "--password-command", "echo test"]
        switch program {
        case .vsftpd, .dropBox: return []
        case .vsftpdImplicit: return ["--ca", "\(folder)/tls/ca.crt"]
        case .proFTPD: return ["--ca", "\(folder)/tls/ca.crt"] + account
        case .pyftpdlib: return account
        }
    }
}

/// Apache as a WebDAV server.
final class DavServer: Server {
    init(_ sandbox: Sandbox, settings: [String] = []) throws {
        try super.init("apache-dav", sandbox, folder: "dav", settings: settings)
    }

    var data: RawPath { RawPath("\(folder)/data") }
}

/// Nextcloud's chunked upload v2, played by a script.
final class NextcloudServer: Server {
    init(_ sandbox: Sandbox) throws { try super.init("nextcloud", sandbox, folder: "nextcloud") }

    /// The user's files.
    var files: RawPath { RawPath("\(folder)/data/files/test") }
    /// Folders of chunks that are not put together yet.
    var chunks: RawPath { RawPath("\(folder)/data/uploads/test") }
}

/// One version of the IETF's draft, played by a script.
final class DraftServer: Server {
    init(_ sandbox: Sandbox, version: Int = 8, settings: [String] = []) throws {
        try super.init("ietf", sandbox, folder: "ietf", settings: ["VERSION=\(version)"] + settings)
    }

    var data: RawPath { RawPath("\(folder)/data") }
}

/// An application that takes POSTs, played by a script.
final class FormServer: Server {
    init(_ sandbox: Sandbox) throws { try super.init("forms", sandbox, folder: "forms") }

    /// Each POST that has happened: `path file bytes sha256`, and its fields.
    func done() throws -> [JSON] { try lines("done") }
}

extension Server {
    /// One object a line of a file in its folder.
    func lines(_ name: String) throws -> [JSON] {
        guard fileExists("\(folder)/\(name)") else { return [] }
        return try readText("\(folder)/\(name)").split(separator: "\n").map { try JSON(parsing: String($0)) }
    }

    /// What a scripted server was asked, answered or broken off: `method path status bytes`, and the fields that matter.
    func requests() throws -> [JSON] { try lines("requests") }

    /// Writes a file that changes what a scripted server does; `nil` takes it away.
    func turn(_ name: String, _ value: String?) throws {
        guard let value else {
            remove("\(folder)/\(name)")
            return
        }
        try write(value, to: "\(folder)/\(name)")
    }
}
