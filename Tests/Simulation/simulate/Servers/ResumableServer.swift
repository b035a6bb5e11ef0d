import LinuxSystem
import TransferModel

/// The ways of one model server of the IETF draft "Resumable Uploads for HTTP".
struct ResumableCharacter {
    let name: String
    /// The interop version that it speaks; it passes requests of another one over.
    var version = 8
    /// Tells its limits in OPTIONS, and so that it speaks the draft.
    var announces = true
    /// The most bytes of an append.
    var largestAppend: Int?
    /// 409 has the offset; tusd's has none.
    var tellsOffset = true
    /// The last answer says that the upload is complete; tusd's does not.
    var tellsCompletion = true
    /// NIOResumableUpload: the field of another version in the last answer.
    var swapsFields = false
    /// An upload is gone once it is whole.
    var forgetsFinished = false
    /// A power cut takes bytes that were confirmed.
    var forgetsUnsynced = false
    /// Heeds `If-None-Match` and tells digests.
    var knowsNames = false

    static let all = [
        ResumableCharacter(name: "draft 12", largestAppend: 4 << 20),
        ResumableCharacter(name: "martlet-receive by the draft", forgetsFinished: true, knowsNames: true),
        ResumableCharacter(
            name: "tusd by draft 5", version: 6, tellsOffset: false, tellsCompletion: false, forgetsUnsynced: true),
        ResumableCharacter(name: "NIOResumableUpload", version: 6, swapsFields: true),
        ResumableCharacter(name: "a server that says 104 and no more", version: 8, announces: false),
    ]
}

/// A model server of the IETF draft. What is complete gets the name that was asked for.
final class ResumableServer: HTTPServer {
    private final class Upload {
        let id: String
        let length: Int?
        let path: String
        let isConditional: Bool
        var bytes: [UInt8] = []
        weak var writer: ServedRequest?
        var isFinished = false
        /// Bytes that the engine was told to be here.
        var told = 0
        /// It was asked after, or went on: whoever did so knows of it.
        var isKnown = false
        var isKept = false

        init(_ id: String, length: Int?, path: String, isConditional: Bool) {
            self.id = id
            self.length = length
            self.path = path
            self.isConditional = isConditional
        }
    }

    let disk: ServerDisk
    let door: ServerDoor
    private let character: ResumableCharacter
    private let network: Network
    private let files: ServedFiles
    private var uploads: [String: Upload] = [:]
    private var lastID = 0

    var name: String { character.name }

    init(_ disk: ServerDisk, _ character: ResumableCharacter, _ network: Network) {
        self.disk = disk
        self.character = character
        self.network = network
        door = ServerDoor(disk, network)
        files = ServedFiles(disk)
        files.tellsDigests = character.knowsNames
    }

    // MARK: Requests

    func place(of request: ServedRequest) -> String? {
        switch request.method {
        case "PATCH": upload(request)?.path
        case "PUT": request.path
        default: nil
        }
    }

    private func upload(_ request: ServedRequest) -> Upload? {
        request.path.hasPrefix("/uploads/") ? uploads[String(request.path.dropFirst(9))] : nil
    }

    private func speaks(_ request: ServedRequest) -> Bool {
        request.fields["upload-draft-interop-version"] == "\(character.version)"
    }

    func begin(_ request: ServedRequest) -> ServedAnswer? {
        if let refusal = door.refusal(request) { return refusal }
        switch request.method {
        case "OPTIONS", "GET": return nil
        case "HEAD", "DELETE":
            guard request.path.hasPrefix("/uploads/") else { return nil }
            if request.fields["upload-offset"] ?? request.fields["upload-complete"] != nil { return ServedAnswer(400) }
            return upload(request) == nil ? ServedAnswer(404) : nil
        case "PUT": return beginPut(request)
        case "PATCH": return beginAppend(request)
        default: return ServedAnswer(405)
        }
    }

    func finish(_ request: ServedRequest) -> ServedAnswer {
        if let verdict = request.verdict { return verdict }
        switch request.method {
        case "OPTIONS": return options(request)
        case "PUT": return finishPut(request)
        case "PATCH": return append(request)
        case "DELETE":
            guard let upload = upload(request) else { return ServedAnswer(404) }
            upload.writer = nil
            uploads[upload.id] = nil
            return ServedAnswer(204)
        default: return upload(request).map(head) ?? files.read(request)
        }
    }

    private var version: (String, String) { ("Upload-Draft-Interop-Version", "\(character.version)") }

    private var limits: [(String, String)] {
        [("Upload-Limit", character.largestAppend.map { "max-append-size=\($0)" } ?? "min-size=0")]
    }

    private func options(_ request: ServedRequest) -> ServedAnswer {
        guard speaks(request), character.announces else {
            return ServedAnswer(200, [("Allow", "GET, HEAD, PUT, OPTIONS")])
        }
        return ServedAnswer(200, [version] + limits)
    }

    /// The field that says whether an upload is complete.
    private func completion(_ isComplete: Bool) -> [(String, String)] {
        if !character.tellsCompletion { return [] }
        return [
            character.swapsFields
                ? ("Upload-Incomplete", isComplete ? "?0" : "?1") : ("Upload-Complete", isComplete ? "?1" : "?0")
        ]
    }

    // MARK: Creation

    private func beginPut(_ request: ServedRequest) -> ServedAnswer? {
        if character.knowsNames, let refusal = files.violated(request, at: request.path) { return refusal }
        guard speaks(request), request.fields["upload-complete"] != nil else { return nil }
        lastID += 1
        let upload = Upload(
            "r\(lastID)x\(network.weather.chance.below(1 << 30))",
            length: request.fields["upload-length"].flatMap { Int($0) }, path: request.path,
            isConditional: request.fields["if-none-match"] == "*")
        uploads[upload.id] = upload
        upload.writer = request
        request.upload = upload
        return nil
    }

    func interim(_ request: ServedRequest) -> ServedAnswer? {
        guard request.method == "PUT", request.length > 0, let upload = request.upload as? Upload else { return nil }
        return ServedAnswer(104, [("Location", "/uploads/\(upload.id)"), version])
    }

    private func finishPut(_ request: ServedRequest) -> ServedAnswer {
        guard let upload = request.upload as? Upload else {
            if character.knowsNames, let refusal = files.violated(request, at: request.path) { return refusal }
            disk.makeFolders(ServerDisk.parent(request.path))
            let file = RemoteFile(request.body, modified: disk.now)
            disk.put(file, at: request.path)
            return ServedAnswer(201, files.facts(file, request))
        }
        upload.writer = nil
        if request.fields["upload-complete"] == "?1" { return publish(upload, request) }
        return ServedAnswer(201, [("Location", "/uploads/\(upload.id)"), version] + limits + completion(false))
    }

    // MARK: Bytes

    private func head(_ upload: Upload) -> ServedAnswer {
        upload.isKnown = true
        if let writer = upload.writer {
            // Whoever asks wants to go on: the request before is over.
            writer.verdict = ServedAnswer(400)
            upload.writer = nil
        }
        var fields = [("Upload-Offset", "\(upload.bytes.count)"), version] + limits
        fields.append(("Upload-Complete", upload.isFinished ? "?1" : "?0"))
        if let length = upload.length { fields.append(("Upload-Length", "\(length)")) }
        return ServedAnswer(204, fields)
    }

    private func beginAppend(_ request: ServedRequest) -> ServedAnswer? {
        guard let upload = upload(request) else { return ServedAnswer(404) }
        upload.isKnown = true
        if character.version >= 6, request.fields["content-type"] != "application/partial-upload" {
            return ServedAnswer(415)
        }
        let offset = request.fields["upload-offset"].flatMap { Int($0) } ?? 0
        if offset < upload.told {
            network.world.fault(
                "\(upload.path) is sent from byte \(offset), and the server has told that it has \(upload.told)")
        }
        if upload.writer != nil { return ServedAnswer(409) }
        if upload.isFinished || offset != upload.bytes.count { return mismatch(upload) }
        if let most = character.largestAppend, request.length > most { return ServedAnswer(413, limits) }
        upload.writer = request
        request.upload = upload
        return nil
    }

    private func mismatch(_ upload: Upload) -> ServedAnswer {
        let kind = "https://iana.org/assignments/http-problem-types#mismatching-upload-offset"
        return ServedAnswer(
            409,
            [("Content-Type", "application/problem+json")]
                + (character.tellsOffset ? [("Upload-Offset", "\(upload.bytes.count)")] : []),
            body: Array("{\"type\":\"\(kind)\"}".utf8))
    }

    func received(_ piece: [UInt8], _ request: ServedRequest) {
        guard let upload = request.upload as? Upload, upload.writer === request else { return }
        upload.bytes += piece
    }

    func broken(_ request: ServedRequest) {
        guard let upload = request.upload as? Upload, upload.writer === request else { return }
        upload.writer = nil
    }

    private func append(_ request: ServedRequest) -> ServedAnswer {
        guard let upload = request.upload as? Upload, uploads[upload.id] === upload else { return ServedAnswer(404) }
        upload.writer = nil
        if request.fields["upload-complete"] == "?1" { return publish(upload, request) }
        return ServedAnswer(204, [("Upload-Offset", "\(upload.bytes.count)"), version] + completion(false))
    }

    /// Gives what is complete its name. 412: somebody else has it by now.
    private func publish(_ upload: Upload, _ request: ServedRequest) -> ServedAnswer {
        if let length = upload.length, length != upload.bytes.count { return ServedAnswer(400) }
        if character.knowsNames, upload.isConditional, disk.file(upload.path) != nil {
            return ServedAnswer(412, completion(true))
        }
        upload.isFinished = true
        disk.makeFolders(ServerDisk.parent(upload.path))
        let file = RemoteFile(upload.bytes, modified: disk.now)
        disk.put(file, at: upload.path)
        if character.forgetsFinished { uploads[upload.id] = nil }
        return ServedAnswer(
            201, [("Upload-Offset", "\(upload.bytes.count)")] + completion(true) + files.facts(file, request))
    }

    func told(_ answer: ServedAnswer, to request: ServedRequest) {
        guard let upload = (request.upload as? Upload) ?? upload(request), answer.status < 300 || answer.status == 409,
            let text = answer.fields.first(where: { $0.name == "Upload-Offset" })?.value, let offset = Int(text)
        else { return }
        upload.told = max(upload.told, min(offset, upload.bytes.count))
    }

    // MARK: By itself

    var unfinished: [Unfinished] {
        uploads.values.filter { !$0.isFinished && $0.isKnown && !$0.bytes.isEmpty }.sorted { $0.id < $1.id }.map {
            Unfinished(name: $0.id, what: "the upload \($0.id) of \($0.path)", isKept: $0.isKept)
        }
    }

    func removalFailed(_ request: ServedRequest) { upload(request)?.isKept = true }

    func crash() {
        for upload in uploads.values.sorted(by: { $0.id < $1.id }) where !upload.isFinished {
            upload.writer = nil
            guard character.forgetsUnsynced else { continue }
            upload.bytes.removeLast(network.weather.chance.below(upload.bytes.count + 1))
            upload.told = min(upload.told, upload.bytes.count)
        }
    }
}
