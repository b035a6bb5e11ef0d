import Digests
import LinuxSystem
import TransferModel
import TransferProtocols
import WireOperations

/// The ways of one model server of WebDAV.
struct DavCharacter {
    let name: String
    /// Knows PROPFIND; nginx does not (405).
    var lists = true
    /// Knows MOVE; else 501.
    var moves = true
    /// The answer to a PUT below a folder that is missing.
    var missingFolder = 409
    /// A PUT that is cut leaves what came of it under the name it was for (nextcloud/server #62321).
    var keepsTorso = false
    /// It knows itself by another name than its clients do: 502 to a `Destination` with a host.
    var isBehindProxy = false
    /// After a PUT that was cut the file is locked for a while: 423 (owncloud/core #17254).
    var locks = false
    /// Nextcloud: keeps the source's time, computes digests, puts chunks together.
    var isCloud = false

    static let plain = [
        DavCharacter(name: "Apache"),
        DavCharacter(name: "nginx with MOVE", lists: false),
        DavCharacter(name: "sabre/dav", keepsTorso: true, locks: true),
        DavCharacter(name: "WebDAV behind a proxy", isBehindProxy: true),
        DavCharacter(name: "WebDAV without MOVE", moves: false, missingFolder: 404),
    ]

    static let cloud = [
        DavCharacter(name: "Nextcloud", keepsTorso: true, locks: true, isCloud: true)
    ]
}

/// A model server of WebDAV. `NextcloudChunks` is what a Nextcloud has besides.
final class DavServer: HTTPServer {
    let disk: ServerDisk
    let door: ServerDoor
    let network: Network
    private let character: DavCharacter
    private let files: ServedFiles
    private let chunks: NextcloudChunks?
    /// Names that a request which was cut, or a MOVE that still goes on, has to itself.
    private var locked: [String: MonotonicInstant] = [:]
    /// Names that were taken away, or were not there when they were to be.
    private var removed: Set<String> = []
    /// Names that the server was asked to take away, and did not; or that came there after it had.
    private var kept: Set<String> = []

    var name: String { character.name }
    var isCloud: Bool { character.isCloud }

    init(_ disk: ServerDisk, _ character: DavCharacter, _ network: Network) {
        self.disk = disk
        self.character = character
        self.network = network
        door = ServerDoor(disk, network)
        files = ServedFiles(disk)
        chunks = character.isCloud ? NextcloudChunks(disk, network) : nil
        // The user's own folder is always there.
        if character.isCloud { disk.makeFolders("/remote.php/dav/files/ada") }
    }

    // MARK: Requests

    func place(of request: ServedRequest) -> String? {
        switch request.method {
        case "PUT" where chunks?.owns(request.path) == true: destination(request)
        case "PUT": ServerDisk.target(ofTemporary: request.path) ?? request.path
        case "MOVE": destination(request)
        default: nil
        }
    }

    private func destination(_ request: ServedRequest) -> String? {
        guard var text = request.fields["destination"] else { return nil }
        if let mark = text.firstRange(of: "://") { text = String(text[mark.upperBound...].drop { $0 != "/" }) }
        return String(decoding: PercentEncoding.decode(text), as: UTF8.self)
    }

    func begin(_ request: ServedRequest) -> ServedAnswer? {
        if let refusal = door.refusal(request) { return refusal }
        if chunks?.owns(request.path) == true, request.method == "PUT" { return chunks?.begin(request) }
        guard request.method == "PUT" else { return nil }
        if let lock = lock(request.path) { return lock }
        if disk.isFolder(request.path) { return ServedAnswer(405) }
        guard disk.isFolder(ServerDisk.parent(request.path)) else { return ServedAnswer(character.missingFolder) }
        return files.violated(request, at: request.path)
    }

    func finish(_ request: ServedRequest) -> ServedAnswer {
        let isChunk = chunks?.owns(request.path) == true
        switch request.method {
        case "OPTIONS": return ServedAnswer(200, [("DAV", "1,2"), ("Allow", "OPTIONS,GET,HEAD,PUT,DELETE,MKCOL,MOVE")])
        case "GET", "HEAD": return isChunk ? ServedAnswer(405) : files.read(request)
        case "PROPFIND": return list(request)
        case "MKCOL": return isChunk ? chunks?.make(request) ?? ServedAnswer(405) : makeFolder(request.path)
        case "PUT": return isChunk ? chunks?.put(request) ?? ServedAnswer(405) : put(request)
        case "DELETE": return isChunk ? chunks?.remove(request) ?? ServedAnswer(405) : remove(request.path)
        case "MOVE": return character.moves ? move(request) : ServedAnswer(501)
        default: return ServedAnswer(405)
        }
    }

    func broken(_ request: ServedRequest) {
        guard request.method == "PUT", request.body.count < request.length, chunks?.owns(request.path) != true else {
            return
        }
        if character.keepsTorso, !request.body.isEmpty, disk.isFolder(ServerDisk.parent(request.path)) {
            disk.put(RemoteFile(request.body, modified: disk.now), at: request.path)
            // It sees late that the line is gone: what was to be taken away meanwhile was not there yet.
            if removed.contains(disk.key(request.path)) { kept.insert(disk.key(request.path)) }
        }
        if character.locks, network.weather.strikes(oneIn: 3) {
            let time = network.weather.chance.duration(.seconds(1), .seconds(300))
            locked[disk.key(request.path)] = network.world.now.advanced(by: time)
        }
    }

    func told(_ answer: ServedAnswer, to request: ServedRequest) { chunks?.told(answer, to: request) }

    private func lock(_ path: String) -> ServedAnswer? {
        guard let until = locked[disk.key(path)], until > network.world.now else { return nil }
        return ServedAnswer(423, body: DavWords.error("Locked"))
    }

    // MARK: Files

    private func put(_ request: ServedRequest) -> ServedAnswer {
        // Another may have come first meanwhile.
        if let refusal = files.violated(request, at: request.path) { return refusal }
        guard disk.isFolder(ServerDisk.parent(request.path)) else { return ServedAnswer(character.missingFolder) }
        let isNew = disk.file(request.path) == nil
        let file = store(request.body, request)
        disk.put(file, at: request.path)
        return ServedAnswer(isNew ? 201 : 204, [("ETag", files.tag(file))] + digest(file.bytes, request))
    }

    /// A file with the time that the request tells, where that is kept.
    private func store(_ bytes: [UInt8], _ request: ServedRequest) -> RemoteFile {
        let told = request.fields["x-oc-mtime"].flatMap { Int64($0) }
        // Nextcloud takes no time of the first day.
        return RemoteFile(
            bytes, modified: character.isCloud ? told.flatMap { $0 > 86_400 ? $0 : nil } ?? disk.now : disk.now)
    }

    private func digest(_ bytes: [UInt8], _ request: ServedRequest) -> [(String, String)] {
        guard character.isCloud, request.fields["x-hash"] == "sha256" else { return [] }
        return [("X-Hash-SHA256", DigestAlgorithm.sha256.digest(of: bytes).hex)]
    }

    private func makeFolder(_ path: String) -> ServedAnswer {
        if disk.isFolder(path) || disk.file(path) != nil { return ServedAnswer(405) }
        guard disk.isFolder(ServerDisk.parent(disk.key(path))) else { return ServedAnswer(409) }
        // Two at the same time: Apache tells the second one that it is forbidden.
        if network.weather.strikes(oneIn: 60) { return ServedAnswer(403) }
        disk.makeFolders(path)
        return ServedAnswer(201)
    }

    private func remove(_ path: String) -> ServedAnswer {
        if let lock = lock(path) { return lock }
        removed.insert(disk.key(path))
        if disk.isFolder(path) {
            disk.removeFolder(path)
            return ServedAnswer(204)
        }
        guard disk.file(path) != nil else { return ServedAnswer(404) }
        disk.put(nil, at: path)
        return ServedAnswer(204)
    }

    // MARK: MOVE

    /// Nextcloud copies where others rename, for up to an hour, and the gateway before it waits for a minute (rclone #6133).
    func labour(_ request: ServedRequest) -> Labour? {
        guard request.method == "MOVE", character.isCloud, network.weather.strikes(oneIn: 4),
            let target = destination(request), lock(target) == nil
        else { return nil }
        let time = network.weather.chance.duration(.seconds(1), .seconds(1800))
        locked[disk.key(target)] = network.world.now.advanced(by: time)
        return Labour(time, patience: .seconds(60))
    }

    private func move(_ request: ServedRequest) -> ServedAnswer {
        guard let target = destination(request) else { return ServedAnswer(400) }
        if character.isBehindProxy, request.fields["destination"]?.hasPrefix("/") == false {
            return ServedAnswer(502, body: DavWords.error("BadGateway"))
        }
        if let lock = lock(target) ?? lock(request.path) { return lock }
        let isChunks = chunks?.owns(request.path) == true
        if isChunks, let refusal = chunks?.incomplete(request) { return refusal }
        let file = isChunks ? nil : disk.file(request.path)
        if !isChunks, file == nil { return ServedAnswer(404, body: DavWords.error("NotFound")) }
        guard disk.isFolder(ServerDisk.parent(target)) else {
            return ServedAnswer(409, body: DavWords.error("Conflict"))
        }
        let isNew = disk.file(target) == nil
        if !isNew, request.fields["overwrite"] == "F" {
            return ServedAnswer(412, body: DavWords.error("PreconditionFailed"))
        }
        let moved = file ?? store(chunks?.take(request) ?? [], request)
        if file != nil { disk.put(nil, at: request.path) }
        disk.put(moved, at: target)
        return ServedAnswer(isNew ? 201 : 204, [("OC-ETag", files.tag(moved))] + digest(moved.bytes, request))
    }

    // MARK: PROPFIND

    private func list(_ request: ServedRequest) -> ServedAnswer {
        if !character.lists { return ServedAnswer(405) }
        if chunks?.owns(request.path) == true { return chunks?.list(request) ?? ServedAnswer(404) }
        if let file = disk.file(request.path) { return DavWords.list([entry(request.path, file)]) }
        guard disk.isFolder(request.path) else { return ServedAnswer(404, body: DavWords.error("NotFound")) }
        var entries = [DavWords.Entry(path: "/" + disk.key(request.path) + "/")]
        if request.fields["depth"] == "1" {
            network.world.count("listings of folders")
            for (name, file) in disk.entries(of: request.path) {
                let path = "/" + disk.key(request.path) + "/" + name
                entries.append(file.map { entry(path, $0) } ?? DavWords.Entry(path: path + "/"))
            }
        }
        return DavWords.list(entries)
    }

    private func entry(_ path: String, _ file: RemoteFile) -> DavWords.Entry {
        DavWords.Entry(path: path, size: file.bytes.count, modified: file.modified, tag: files.tag(file))
    }

    // MARK: By itself

    var unfinished: [Unfinished] {
        disk.temporaries.map { temporary in
            var temporary = temporary
            temporary.isKept = kept.contains { $0.hasSuffix("/" + temporary.name) }
            return temporary
        } + (chunks?.unfinished ?? [])
    }

    func tidy() { chunks?.tidy() }
}

/// The documents of WebDAV.
enum DavWords {
    struct Entry {
        let path: String
        /// `nil`: a folder.
        var size: Int?
        var modified: Int64 = 0
        var tag = ""
    }

    /// As sabre/dav explains what it refuses.
    static func error(_ name: String) -> [UInt8] {
        Array(
            "<d:error xmlns:d=\"DAV:\" xmlns:s=\"http://sabredav.org/ns\"><s:exception>\(name)</s:exception></d:error>"
                .utf8)
    }

    static func list(_ entries: [Entry]) -> ServedAnswer {
        var text = "<?xml version=\"1.0\"?><d:multistatus xmlns:d=\"DAV:\">"
        for entry in entries {
            let path = PercentEncoding.encode(Array(entry.path.utf8), keepingSlashes: true)
            text += "<d:response><d:href>\(path)</d:href><d:propstat><d:prop>"
            if let size = entry.size {
                text += "<d:getcontentlength>\(size)</d:getcontentlength><d:getetag>\(entry.tag)</d:getetag>"
                text += "<d:getlastmodified>\(HTTPTime.text(entry.modified))</d:getlastmodified><d:resourcetype/>"
            } else {
                text += "<d:resourcetype><d:collection/></d:resourcetype>"
            }
            text += "</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
        }
        return ServedAnswer(207, [("Content-Type", "application/xml")], body: Array((text + "</d:multistatus>").utf8))
    }
}
