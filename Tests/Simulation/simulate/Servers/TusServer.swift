import Digests
import LinuxSystem
import TransferModel
import WireOperations

/// The ways of one model server of tus.
struct TusCharacter {
    let name: String
    var extensions = ["creation", "creation-with-upload", "termination"]
    /// `Tus-Checksum-Algorithm`.
    var checksums: [String] = []
    /// Knows files by their names: heeds `If-None-Match`, and answers GET and HEAD of a file, with its SHA-256.
    var knowsNames = false
    /// A proxy before it keeps a body back until it is whole (nginx: mieweb/opensource-server #395, tusdotnet #105).
    var buffers = false
    /// The most bytes of one body, else 413 (Cloudflare: tus-js-client #881).
    var largestBody = Int.max
    /// The answer while a request that was cut still has the upload: 423 (tusd), 409 (tusdotnet #204).
    var lockStatus = 423
    /// A HEAD ends the PATCH that is under way (tusd #1161).
    var headInterrupts = false
    /// An upload is gone once it is whole: its address answers 404 (tus-node-server with its hooks).
    var forgetsFinished = false
    /// Seconds after its last byte at which an upload is thrown away; `Upload-Expires`.
    var life: Int64?
    /// A power cut takes bytes that were confirmed (tusd never syncs).
    var forgetsUnsynced = false

    static let all = [
        TusCharacter(
            name: "tusd", extensions: ["creation", "creation-with-upload", "termination", "concatenation"],
            headInterrupts: true, forgetsUnsynced: true),
        TusCharacter(name: "tusd behind nginx", buffers: true, headInterrupts: true),
        TusCharacter(
            name: "tusdotnet", extensions: ["creation", "termination", "checksum", "expiration"],
            checksums: ["sha1"], lockStatus: 409, life: 3600),
        TusCharacter(
            name: "tus-node-server", extensions: ["creation", "expiration"], forgetsFinished: true, life: 600),
        TusCharacter(name: "tus behind Cloudflare", largestBody: 100_000),
        TusCharacter(
            name: "martlet-receive", extensions: ["creation", "creation-with-upload", "termination", "checksum"],
            checksums: ["sha256", "sha1"], knowsNames: true),
    ]
}

/// A model server of tus 1.0.0. What is whole gets the name that its metadata tells.
final class TusServer: HTTPServer {
    private final class Upload {
        let id: String
        let length: Int
        let path: String
        let isConditional: Bool
        var bytes: [UInt8] = []
        /// Seconds since 1970.
        var changed: Int64
        /// The request that brings bytes, and has the upload to itself.
        weak var writer: ServedRequest?
        var lockedUntil = MonotonicInstant(nanoseconds: 0)
        var isFinished = false
        /// Bytes that the engine was told to be here.
        var told = 0
        /// Bytes came by a request of their own.
        var wasAppended = false
        var isKept = false

        init(_ id: String, length: Int, path: String, isConditional: Bool, changed: Int64) {
            self.id = id
            self.length = length
            self.path = path
            self.isConditional = isConditional
            self.changed = changed
        }
    }

    let disk: ServerDisk
    let door: ServerDoor
    private let character: TusCharacter
    private let network: Network
    private let files: ServedFiles
    private var uploads: [String: Upload] = [:]
    private var lastID = 0

    var name: String { character.name }

    init(_ disk: ServerDisk, _ character: TusCharacter, _ network: Network) {
        self.disk = disk
        self.character = character
        self.network = network
        door = ServerDoor(disk, network)
        files = ServedFiles(disk)
        files.tellsDigests = character.knowsNames
    }

    // MARK: Requests

    func place(of request: ServedRequest) -> String? {
        switch method(request) {
        case "PATCH": upload(request)?.path
        case "POST": path(request)
        default: nil
        }
    }

    private func method(_ request: ServedRequest) -> String {
        request.fields["x-http-method-override"] ?? request.method
    }

    private func upload(_ request: ServedRequest) -> Upload? {
        request.path.hasPrefix("/tus/") ? uploads[String(request.path.dropFirst(5))] : nil
    }

    /// The name that a creation's metadata tells.
    private func path(_ request: ServedRequest) -> String {
        var values: [String: String] = [:]
        for pair in (request.fields["upload-metadata"] ?? "").split(separator: ",") {
            let words = pair.split(separator: " ")
            if words.count == 2 {
                values[String(words[0])] = String(decoding: Base64.decode(words[1]) ?? [], as: UTF8.self)
            }
        }
        let folder = request.path.hasSuffix("/") ? request.path : request.path + "/"
        return folder + (values["relativePath"] ?? values["filename"] ?? "unnamed")
    }

    func begin(_ request: ServedRequest) -> ServedAnswer? {
        if let refusal = door.refusal(request) { return refusal }
        if request.length > character.largestBody { return ServedAnswer(413) }
        switch method(request) {
        case "OPTIONS": return nil
        case "GET": return character.knowsNames ? nil : ServedAnswer(404)
        case "HEAD" where upload(request) == nil && !request.path.hasPrefix("/tus/"):
            return character.knowsNames ? nil : ServedAnswer(404)
        default: break
        }
        guard request.fields["tus-resumable"] == "1.0.0" else {
            return ServedAnswer(412, [("Tus-Version", "1.0.0")])
        }
        switch method(request) {
        case "POST": return beginCreation(request)
        case "HEAD", "DELETE":
            return upload(request).map(lock) ?? ServedAnswer(404)
        case "PATCH": return beginAppend(request)
        default: return ServedAnswer(405)
        }
    }

    func finish(_ request: ServedRequest) -> ServedAnswer {
        if let verdict = request.verdict { return verdict }
        switch method(request) {
        case "OPTIONS": return options
        case "GET": return files.read(request)
        case "HEAD":
            return upload(request).map(head)
                ?? (request.path.hasPrefix("/tus/") ? ServedAnswer(404) : files.read(request))
        case "DELETE": return terminate(request)
        case "POST": return create(request)
        default: return append(request)
        }
    }

    private var options: ServedAnswer {
        var fields = [("Tus-Version", "1.0.0"), ("Tus-Resumable", "1.0.0")]
        fields.append(("Tus-Extension", character.extensions.joined(separator: ",")))
        if !character.checksums.isEmpty {
            fields.append(("Tus-Checksum-Algorithm", character.checksums.joined(separator: ",")))
        }
        return ServedAnswer(204, fields)
    }

    // MARK: Creation

    private func beginCreation(_ request: ServedRequest) -> ServedAnswer? {
        guard request.fields["upload-length"].flatMap({ Int($0) }) != nil else { return ServedAnswer(400) }
        if character.knowsNames, let refusal = files.violated(request, at: path(request)) { return refusal }
        return nil
    }

    private func create(_ request: ServedRequest) -> ServedAnswer {
        lastID += 1
        let upload = Upload(
            "u\(lastID)x\(network.weather.chance.below(1 << 30))",
            length: request.fields["upload-length"].flatMap { Int($0) } ?? 0, path: path(request),
            isConditional: request.fields["if-none-match"] == "*", changed: disk.now)
        uploads[upload.id] = upload
        upload.bytes = Array(request.body.prefix(upload.length))
        if upload.bytes.count == upload.length, let refusal = publish(upload) { return refusal }
        request.upload = upload
        var fields = [("Location", "/tus/\(upload.id)"), ("Tus-Resumable", "1.0.0")] + expiry(upload)
        if request.length > 0 { fields.append(("Upload-Offset", "\(upload.bytes.count)")) }
        return ServedAnswer(201, fields)
    }

    private func expiry(_ upload: Upload) -> [(String, String)] {
        character.life.map { [("Upload-Expires", HTTPTime.text(upload.changed + $0))] } ?? []
    }

    // MARK: What is there

    /// The refusal while another request has the upload.
    private func lock(_ upload: Upload) -> ServedAnswer? {
        guard upload.lockedUntil > network.world.now else { return nil }
        return ServedAnswer(character.lockStatus, body: Array("ERR_UPLOAD_LOCKED: it is in use".utf8))
    }

    private func head(_ upload: Upload) -> ServedAnswer {
        if character.headInterrupts, let writer = upload.writer {
            // The PATCH ends with what it has brought so far.
            writer.verdict = ServedAnswer(400, body: Array("ERR_UPLOAD_INTERRUPTED: another request wants it".utf8))
            upload.writer = nil
        }
        return ServedAnswer(
            200,
            [
                ("Upload-Offset", "\(upload.bytes.count)"), ("Upload-Length", "\(upload.length)"),
                ("Cache-Control", "no-store"), ("Tus-Resumable", "1.0.0"),
            ] + expiry(upload))
    }

    func told(_ answer: ServedAnswer, to request: ServedRequest) {
        guard let upload = (request.upload as? Upload) ?? upload(request), answer.status < 300,
            let text = answer.fields.first(where: { $0.name == "Upload-Offset" })?.value, let offset = Int(text)
        else { return }
        upload.told = max(upload.told, offset)
    }

    // MARK: Bytes

    private func beginAppend(_ request: ServedRequest) -> ServedAnswer? {
        guard let upload = upload(request) else { return ServedAnswer(404) }
        if let refusal = lock(upload) { return refusal }
        let offset = request.fields["upload-offset"].flatMap { Int($0) } ?? 0
        if offset < upload.told {
            network.world.fault(
                "\(upload.path) is sent from byte \(offset), and the server has told that it has \(upload.told)")
        }
        if upload.writer != nil { return ServedAnswer(character.lockStatus) }
        if offset != upload.bytes.count { return ServedAnswer(409) }
        if offset + request.length > upload.length { return ServedAnswer(400) }
        upload.writer = request
        upload.wasAppended = true
        request.upload = upload
        return nil
    }

    private func holdsBack(_ request: ServedRequest) -> Bool {
        character.buffers || request.fields["upload-checksum"] != nil
    }

    func received(_ piece: [UInt8], _ request: ServedRequest) {
        guard let upload = request.upload as? Upload, upload.writer === request, !holdsBack(request) else { return }
        upload.bytes += piece
        upload.changed = disk.now
    }

    func broken(_ request: ServedRequest) {
        guard let upload = request.upload as? Upload, upload.writer === request else { return }
        upload.writer = nil
        // It notices later: until then the upload is in use.
        if network.weather.strikes(oneIn: 3) {
            upload.lockedUntil = network.world.now.advanced(
                by: network.weather.chance.duration(.seconds(1), .seconds(60)))
        }
    }

    private func append(_ request: ServedRequest) -> ServedAnswer {
        guard let upload = request.upload as? Upload, uploads[upload.id] === upload else { return ServedAnswer(404) }
        upload.writer = nil
        if holdsBack(request) {
            if let sum = request.fields["upload-checksum"], !agrees(sum, request.body) { return ServedAnswer(460) }
            upload.bytes += request.body
        }
        upload.changed = disk.now
        if upload.bytes.count == upload.length, let refusal = publish(upload) { return refusal }
        var fields = [("Upload-Offset", "\(upload.bytes.count)"), ("Tus-Resumable", "1.0.0")] + expiry(upload)
        if upload.isFinished, let file = disk.file(upload.path) { fields += files.facts(file, request) }
        return ServedAnswer(204, fields)
    }

    private func agrees(_ sum: String, _ bytes: [UInt8]) -> Bool {
        // A line that changes bytes, seen by TCP's own sum too seldom.
        if network.weather.strikes(oneIn: 60) { return false }
        let words = sum.split(separator: " ")
        let algorithm = words.first == "sha256" ? DigestAlgorithm.sha256 : .sha1
        return words.count == 2 && algorithm.digest(of: bytes).base64 == words[1]
    }

    /// Gives what is whole its name. 412: somebody else has it by now.
    private func publish(_ upload: Upload) -> ServedAnswer? {
        if character.knowsNames, upload.isConditional, disk.file(upload.path) != nil { return ServedAnswer(412) }
        upload.isFinished = true
        disk.makeFolders(ServerDisk.parent(upload.path))
        disk.put(RemoteFile(upload.bytes, modified: disk.now), at: upload.path)
        if character.forgetsFinished { uploads[upload.id] = nil }
        return nil
    }

    // MARK: Ends

    private func terminate(_ request: ServedRequest) -> ServedAnswer {
        guard let upload = upload(request) else { return ServedAnswer(404) }
        guard character.extensions.contains("termination") else { return ServedAnswer(405) }
        upload.writer = nil
        uploads[upload.id] = nil
        return ServedAnswer(204, [("Tus-Resumable", "1.0.0")])
    }

    /// Those that nobody could know of got their bytes with their creation.
    var unfinished: [Unfinished] {
        uploads.values.filter { !$0.isFinished && $0.wasAppended && character.life == nil }.sorted { $0.id < $1.id }.map
        {
            Unfinished(name: $0.id, what: "the upload \($0.id) of \($0.path)", isKept: $0.isKept)
        }
    }

    func removalFailed(_ request: ServedRequest) { upload(request)?.isKept = true }

    func crash() {
        for upload in uploads.values.sorted(by: { $0.id < $1.id }) where !upload.isFinished {
            upload.writer = nil
            upload.lockedUntil = network.world.now
            guard character.forgetsUnsynced else { continue }
            upload.bytes.removeLast(network.weather.chance.below(upload.bytes.count + 1))
            upload.told = min(upload.told, upload.bytes.count)
        }
    }

    func tidy() {
        guard let life = character.life else { return }
        for upload in uploads.values.sorted(by: { $0.id < $1.id })
        where upload.changed + life < disk.now && upload.writer == nil {
            network.world.tell(disk.host, "throws the upload \(upload.id) away, whose time is over")
            uploads[upload.id] = nil
        }
    }
}
