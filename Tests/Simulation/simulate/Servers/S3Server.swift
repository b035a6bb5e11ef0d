import Digests
import LinuxSystem
import TransferModel
import TransferProtocols
import WireOperations

/// The ways of one model server of S3.
struct S3Character {
    let name: String
    enum Conditions {
        case heeds
        /// Passes them over (Backblaze B2).
        case ignores
        /// 501 `NotImplemented` (Ceph before it had them).
        case refuses
    }
    var conditions = Conditions.heeds
    /// Tags are MD5 sums; else they are of what is stored encrypted (SSE-KMS).
    var hasPlainTags = true
    /// The region that requests must be signed for; another one is told.
    var region: String?
    /// Seconds after which a rule of the bucket throws unfinished uploads away.
    var life: Int64?
    /// Uploads of several parts are gone when they are to be completed, each time (minio/minio #6949).
    var losesUploads = false

    static let all = [
        S3Character(name: "AWS"),
        S3Character(name: "AWS with KMS", hasPlainTags: false),
        S3Character(name: "AWS in another region", region: "eu-central-1"),
        S3Character(name: "AWS that clears uploads away", life: 120),
        S3Character(name: "MinIO that loses uploads", losesUploads: true),
        S3Character(name: "Backblaze B2", conditions: .ignores),
        S3Character(name: "Ceph", conditions: .refuses),
    ]
}

/// A model server of S3 with one bucket, which has the name of its disk.
final class S3Server: HTTPServer {
    /// The properties of the file under a key.
    struct Object {
        let file: RemoteFile
        let tag: String
        /// `x-amz-meta-*` of the request that made it.
        let marks: [(String, String)]
    }

    let disk: ServerDisk
    let door: ServerDoor
    let character: S3Character
    let network: Network
    private var objects: [String: Object] = [:]
    /// By their IDs.
    var uploads: [String: S3PartialUpload] = [:]
    var lastID = 0

    var name: String { character.name }

    init(_ disk: ServerDisk, _ character: S3Character, _ network: Network) {
        self.disk = disk
        self.character = character
        self.network = network
        door = ServerDoor(disk, network)
    }

    /// The key that a request is about; `nil`: the bucket.
    func key(_ request: ServedRequest) -> String? {
        let key = request.path.drop { $0 == "/" }.dropFirst(disk.host.count + 1)
        return key.isEmpty ? nil : String(key)
    }

    func place(of request: ServedRequest) -> String? {
        ["PUT", "POST"].contains(request.method) ? key(request) : nil
    }

    // MARK: Requests

    func begin(_ request: ServedRequest) -> ServedAnswer? {
        if let refusal = refusal(request) { return refusal }
        if request.method == "PUT", request.query["partNumber"] != nil { return beginPart(request) }
        return nil
    }

    func finish(_ request: ServedRequest) -> ServedAnswer {
        guard let key = key(request) else {
            return request.query["uploads"] != nil ? listUploads(request) : listObjects(request)
        }
        let upload = request.query["uploadId"]
        switch request.method {
        case "HEAD": return read(request, key)
        case "GET": return upload == nil ? read(request, key) : listParts(request)
        case "POST": return request.query["uploads"] != nil ? create(request, key) : complete(request, key)
        case "PUT": return upload == nil ? put(request, key) : storePart(request)
        case "DELETE": return upload == nil ? S3Error.answer(405, "MethodNotAllowed") : abort(request)
        default: return S3Error.answer(405, "MethodNotAllowed")
        }
    }

    /// As AWS refuses: keys that it does not know, a region that is not the bucket's, and what goes wrong now and then.
    private func refusal(_ request: ServedRequest) -> ServedAnswer? {
        // `… Credential=ID/DATE/REGION/s3/aws4_request, …`
        let scope = (request.fields["authorization"] ?? "").drop { $0 != "=" }.dropFirst().prefix { $0 != "," }
            .split(separator: "/")
        guard scope.count == 5 else { return error(request, 403, "AccessDenied") }
        if let region = character.region, region != scope[2] {
            return error(request, 400, "AuthorizationHeaderMalformed", region: region)
        }
        if let key = door.key, key != scope[0] { return error(request, 403, "InvalidAccessKeyId") }
        guard network.weather.strikes(oneIn: 40) else { return nil }
        switch network.weather.chance.below(6) {
        case 0: return error(request, 503, "SlowDown")
        case 1: return error(request, 400, "RequestTimeout")
        case 2: return error(request, 403, "AccessDenied")
        case 3: return error(request, 400, "ExpiredToken")
        case 4: return error(request, 503, "ServiceUnavailable")
        default: return error(request, 500, "InternalError")
        }
    }

    /// An answer to HEAD has no body.
    private func error(
        _ request: ServedRequest, _ status: Int, _ code: String, region: String? = nil
    ) -> ServedAnswer {
        var answer = S3Error.answer(status, code, region: region)
        if request.method == "HEAD" { answer.body = [] }
        return answer
    }

    // MARK: Objects

    private func object(_ key: String) -> Object? {
        guard let file = disk.file(key) else { return nil }
        if let known = objects[disk.key(key)], known.file === file { return known }
        // Of another client.
        return Object(file: file, tag: tag(DigestAlgorithm.md5.digest(of: file.bytes).hex), marks: [])
    }

    /// The tag of what has this MD5, or this sum of its parts' MD5s.
    func tag(_ sum: String) -> String {
        character.hasPlainTags ? "\"\(sum)\"" : "\"\(DigestAlgorithm.md5.digest(of: Array(sum.utf8)).hex)\""
    }

    private func read(_ request: ServedRequest, _ key: String) -> ServedAnswer {
        guard let object = object(key) else { return error(request, 404, "NoSuchKey") }
        let fields =
            [
                ("ETag", object.tag), ("Content-Length", "\(object.file.bytes.count)"),
                ("Last-Modified", HTTPTime.text(object.file.modified)), date,
            ] + object.marks
        return ServedAnswer(200, fields, body: request.method == "GET" ? object.file.bytes : [])
    }

    private var date: (String, String) { ("Date", HTTPTime.text(disk.now)) }

    func marks(_ request: ServedRequest) -> [(String, String)] {
        request.fields.filter { $0.key.hasPrefix("x-amz-meta-") }.sorted { $0.key < $1.key }
    }

    func store(_ bytes: [UInt8], _ tag: String, _ marks: [(String, String)], at key: String) {
        let file = RemoteFile(bytes, modified: disk.now)
        objects[disk.key(key)] = Object(file: file, tag: tag, marks: marks)
        disk.put(file, at: key)
    }

    private func put(_ request: ServedRequest, _ key: String) -> ServedAnswer {
        if let damage = damage(request) { return damage }
        if let refusal = violated(request, key) { return refusal }
        let tag = tag(DigestAlgorithm.md5.digest(of: request.body).hex)
        store(request.body, tag, marks(request), at: key)
        return ServedAnswer(200, [("ETag", tag), date])
    }

    /// The body is not the one that its fields tell of.
    func damage(_ request: ServedRequest) -> ServedAnswer? {
        // A line that changes bytes, which TCP's own sum misses now and then.
        let isDamaged = network.weather.strikes(oneIn: 150)
        if let sum = request.fields["content-md5"],
            isDamaged || sum != DigestAlgorithm.md5.digest(of: request.body).base64
        {
            return S3Error.answer(400, "BadDigest")
        }
        if let sum = request.fields["x-amz-content-sha256"], sum != "UNSIGNED-PAYLOAD",
            isDamaged || sum != DigestAlgorithm.sha256.digest(of: request.body).hex
        {
            return S3Error.answer(400, "XAmzContentSHA256Mismatch")
        }
        return nil
    }

    func violated(_ request: ServedRequest, _ key: String) -> ServedAnswer? {
        let (absent, tag) = (request.fields["if-none-match"], request.fields["if-match"])
        if absent == nil, tag == nil || character.conditions == .ignores { return nil }
        switch character.conditions {
        case .ignores: return nil
        case .refuses: return S3Error.answer(501, "NotImplemented")
        case .heeds: break
        }
        if absent != nil, disk.file(key) != nil { return S3Error.answer(412, "PreconditionFailed") }
        guard let tag else { return nil }
        guard let object = object(key) else { return S3Error.answer(404, "NoSuchKey") }
        return object.tag == tag ? nil : S3Error.answer(412, "PreconditionFailed")
    }

    // MARK: Lists

    private func listObjects(_ request: ServedRequest) -> ServedAnswer {
        network.world.count("listings of folders")
        let prefix = request.query["prefix"] ?? ""
        var text =
            "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><EncodingType>url</EncodingType>"
        var folders: Set<String> = []
        for key in disk.files.keys.filter({ $0.hasPrefix(prefix) }).sorted() {
            let rest = key.dropFirst(prefix.count)
            if request.query["delimiter"] == "/", let slash = rest.firstIndex(of: "/") {
                let folder = prefix + rest[...slash]
                if folders.insert(folder).inserted {
                    text += "<CommonPrefixes><Prefix>\(S3Error.escaped(folder))</Prefix></CommonPrefixes>"
                }
                continue
            }
            guard let object = object(key) else { continue }
            text +=
                "<Contents><Key>\(S3Error.escaped(key))</Key><LastModified>\(HTTPTime.internet(object.file.modified))"
            text += "</LastModified><ETag>\(object.tag)</ETag><Size>\(object.file.bytes.count)</Size></Contents>"
        }
        return ServedAnswer(
            200, [date], body: Array((text + "<IsTruncated>false</IsTruncated></ListBucketResult>").utf8))
    }

    private func listUploads(_ request: ServedRequest) -> ServedAnswer {
        let prefix = request.query["prefix"] ?? ""
        var text = "<ListMultipartUploadsResult><EncodingType>url</EncodingType><IsTruncated>false</IsTruncated>"
        for upload in uploads.values.sorted(by: { ($0.key, $0.id) < ($1.key, $1.id) })
        where upload.key.hasPrefix(prefix) {
            text += "<Upload><Key>\(S3Error.escaped(upload.key))</Key><UploadId>\(upload.id)</UploadId>"
            text += "<Initiated>\(HTTPTime.internet(upload.begun))</Initiated></Upload>"
        }
        return ServedAnswer(200, [date], body: Array((text + "</ListMultipartUploadsResult>").utf8))
    }
}

/// Answers of S3 that say no.
enum S3Error {
    static func answer(_ status: Int, _ code: String, region: String? = nil) -> ServedAnswer {
        var fields = [("Content-Type", "application/xml")]
        if let region { fields.append(("x-amz-bucket-region", region)) }
        if code == "SlowDown" { fields.append(("Retry-After", "5")) }
        return ServedAnswer(status, fields, body: body(code, region: region))
    }

    static func body(_ code: String, region: String? = nil) -> [UInt8] {
        let place = region.map { "<Region>\($0)</Region>" } ?? ""
        return Array("<Error><Code>\(code)</Code><Message>no</Message>\(place)</Error>".utf8)
    }

    /// A key as lists write it where they are asked to encode it.
    static func escaped(_ key: String) -> String { PercentEncoding.encode(Array(key.utf8), keepingSlashes: true) }
}
