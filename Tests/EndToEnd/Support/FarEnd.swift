import Glibc
import Testing
import TransferModel

/// The server of a protocol, whichever it is.
enum FarEnd {
    case tus(TusServer)
    case receiver(Receiver)
    case draft(DraftServer)
    case s3(S3Server)
    case sftp(SSHServer)
    /// And the folder that uploads go to.
    case ftp(FTPServer, RawPath)
    case dav(DavServer)
    case nextcloud(NextcloudServer)
    case nginx(Nginx)

    /// - Parameter token: what a receiver asks for.
    init(_ wire: WireProtocol, _ sandbox: Sandbox, token: String? = nil) throws {
        switch wire {
        case .tus: self = .tus(try TusServer(sandbox))
        case .tusInChunks:
            self = .tus(try TusServer(sandbox, .resumableUpload, settings: ["MAX_CHUNK=\(WireProtocol.chunk)"]))
        case .tusToReceiver, .ietf:
            let asking = try token.map { try Receiver.asking(for: $0, sandbox) }
            self = .receiver(try Receiver(sandbox, access: (asking ?? ["--open"]) + ["--host", "127.0.0.1"]))
        case .ietf8, .ietf6, .ietf5, .ietf3:
            self = .draft(try DraftServer(sandbox, version: wire.interopVersion ?? 8))
        case .s3: self = .s3(try S3Server(sandbox))
        case .sftp: self = .sftp(try SSHServer(sandbox))
        case .ftp, .ftps, .ftpes:
            let program: FTPServer.Program = wire == .ftp ? .vsftpd : wire == .ftps ? .vsftpdImplicit : .proFTPD
            let server = try FTPServer(sandbox, program)
            self = .ftp(server, server.data.appending(RawPath("up")))
        case .dav: self = .dav(try DavServer(sandbox))
        case .nextcloud: self = .nextcloud(try NextcloudServer(sandbox))
        case .put: self = .nginx(try Nginx(sandbox))
        }
    }

    private var server: Server? {
        switch self {
        case .tus(let server): server
        case .receiver: nil
        case .draft(let server): server
        case .s3(let server): server
        case .sftp(let server): server
        case .ftp(let server, _): server
        case .dav(let server): server
        case .nextcloud(let server): server
        case .nginx(let server): server
        }
    }

    var address: String {
        if case .receiver(let receiver) = self { receiver.address } else { server?.address ?? "" }
    }

    /// Ends it, as a power cut would.
    func crash() throws {
        if case .receiver(let receiver) = self { try receiver.crash() } else { try server?.crash() }
    }

    /// Starts it again where it was, with what it had stored; with other settings for this once, if a script's server is told some.
    func restart(_ settings: [String] = []) throws {
        if case .receiver(let receiver) = self { try receiver.restart() } else { try server?.restart(settings) }
    }

    /// Where files lie by their names; nothing for servers that have names of their own.
    var folder: RawPath? {
        func up(_ data: RawPath) -> RawPath { data.appending(RawPath("up")) }
        switch self {
        case .tus, .s3: return nil
        case .receiver(let receiver): return receiver.data
        case .draft(let server): return up(server.data)
        case .sftp(let server): return up(server.data)
        case .ftp(_, let folder): return folder
        case .dav(let server): return up(server.data)
        case .nextcloud(let server): return up(server.files)
        case .nginx(let server): return up(server.data)
        }
    }

    /// Every whole file that is at the server, by its path below the destination, or below a folder there. Parts and temporary names are
    /// there, too, where the server's folder shows them: nothing of the kind may be left.
    func arrived(
        below name: String = "", sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [RawPath: String] {
        if let folder { return try digests(below: name.isEmpty ? folder : folder.appending(RawPath(name))) }
        let prefix = name.isEmpty ? "" : name + "/"
        switch self {
        case .s3(let server): return try server.objects("up/" + prefix)
        case .tus(let server):
            return try server.uploads(prefix).reduce(into: [:]) { found, upload in
                guard let other = found.updateValue(upload.digest, forKey: upload.path) else { return }
                // The server gives names of its own, so nobody can ask what became of a creation whose answer was lost. A small file goes along
                // with its creation, and may then be there twice; a large one never.
                #expect(
                    other == upload.digest && upload.size <= 1 << 20, "\(upload.path) is there twice",
                    sourceLocation: sourceLocation)
            }
        default: return [:]
        }
    }

    // MARK: Losses

    /// Takes the end of what a server that is down had gathered, as a disk does that had not written it yet. Gives the bytes that are gone.
    func loseLastBytes(_ count: Int64) throws -> Int64 {
        let partial: RawPath?
        switch self {
        case .draft(let server): partial = largest(below: RawPath("\(server.folder)/uploads"))
        case .nextcloud(let server): partial = lastFile(below: server.chunks)
        case .s3, .tus, .nginx, .dav: partial = nil
        case .receiver, .sftp, .ftp: partial = folder.flatMap { largest(below: $0) }
        }
        guard let partial else { return 0 }
        let size = length(of: partial)
        truncate(partial.displayed, Int(max(0, size - count)))
        return size - length(of: partial)
    }

    private func files(below folder: RawPath) -> [RawPath] {
        names(in: folder).flatMap { name -> [RawPath] in
            let path = folder.appending(name)
            let inner = files(below: path)
            return inner.isEmpty && length(of: path) > 0 ? [path] : inner
        }
    }

    private func largest(below folder: RawPath) -> RawPath? {
        files(below: folder).max { length(of: $0) < length(of: $1) }
    }

    private func lastFile(below folder: RawPath) -> RawPath? {
        files(below: folder).max { $0.displayed < $1.displayed }
    }
}
