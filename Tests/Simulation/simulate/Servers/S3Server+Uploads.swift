import Digests
import LinuxSystem
import TransferModel

/// An upload in parts that was begun, and neither finished nor taken away.
final class S3PartialUpload {
    struct Part {
        let bytes: [UInt8]
        let md5: [UInt8]
        let tag: String
    }

    let id: String
    let key: String
    let marks: [(String, String)]
    /// Seconds since 1970.
    let begun: Int64
    var parts: [Int: Part] = [:]
    /// Parts that the engine was told to be here.
    var told: Set<Int> = []

    init(_ id: String, key: String, marks: [(String, String)], begun: Int64) {
        self.id = id
        self.key = key
        self.marks = marks
        self.begun = begun
    }
}

/// The uploads in parts of a model server of S3.
extension S3Server {
    /// No part but the last may be smaller.
    private static let smallestPart = 5 << 20

    private func upload(_ request: ServedRequest) -> S3PartialUpload? {
        request.query["uploadId"].flatMap { uploads[$0] }
    }

    func create(_ request: ServedRequest, _ key: String) -> ServedAnswer {
        lastID += 1
        let id = "up\(lastID)x\(network.weather.chance.below(1 << 30))"
        uploads[id] = S3PartialUpload(id, key: key, marks: marks(request), begun: disk.now)
        let text = "<InitiateMultipartUploadResult><UploadId>\(id)</UploadId></InitiateMultipartUploadResult>"
        return ServedAnswer(200, body: Array(text.utf8))
    }

    func beginPart(_ request: ServedRequest) -> ServedAnswer? {
        guard let upload = upload(request), let number = number(request) else {
            return S3Error.answer(404, "NoSuchUpload")
        }
        // By the tag that was told, the engine knows when its source has other bytes now: rewritten in the middle of the upload, they are sent
        // before it is seen that the file has changed.
        let theirs = upload.parts[number].map { DigestAlgorithm.md5.digest(of: $0.bytes).base64 }
        let isOther = request.fields["content-md5"].map { $0 != theirs } ?? false
        if upload.told.contains(number), character.hasPlainTags, !isOther {
            network.world.fault("part \(number) of \(upload.key) is sent, and the server has told that it has it")
        }
        return nil
    }

    private func number(_ request: ServedRequest) -> Int? { request.query["partNumber"].flatMap { Int($0) } }

    func storePart(_ request: ServedRequest) -> ServedAnswer {
        guard let upload = upload(request), let number = number(request) else {
            return S3Error.answer(404, "NoSuchUpload")
        }
        if let damage = damage(request) { return damage }
        let md5 = DigestAlgorithm.md5.digest(of: request.body)
        upload.parts[number] = S3PartialUpload.Part(bytes: request.body, md5: md5.bytes, tag: tag(md5.hex))
        return ServedAnswer(200, [("ETag", tag(md5.hex))])
    }

    func told(_ answer: ServedAnswer, to request: ServedRequest) {
        guard answer.status == 200, let upload = upload(request) else { return }
        if request.method == "PUT", let number = number(request) { upload.told.insert(number) }
        if request.method == "GET" { upload.told.formUnion(request.listed.compactMap { Int($0) }) }
    }

    func listParts(_ request: ServedRequest) -> ServedAnswer {
        guard let upload = upload(request) else { return S3Error.answer(404, "NoSuchUpload") }
        let marker = request.query["part-number-marker"].flatMap { Int($0) } ?? 0
        let most = request.query["max-parts"].flatMap { Int($0) } ?? 1000
        let rest = upload.parts.keys.filter { $0 > marker }.sorted()
        var text = "<ListPartsResult><IsTruncated>\(rest.count > most)</IsTruncated>"
        if rest.count > most { text += "<NextPartNumberMarker>\(rest[most - 1])</NextPartNumberMarker>" }
        request.listed = Set(rest.prefix(most).map { "\($0)" })
        for number in rest.prefix(most) {
            guard let part = upload.parts[number] else { continue }
            text +=
                "<Part><PartNumber>\(number)</PartNumber><Size>\(part.bytes.count)</Size><ETag>\(part.tag)</ETag></Part>"
        }
        return ServedAnswer(200, body: Array((text + "</ListPartsResult>").utf8))
    }

    func abort(_ request: ServedRequest) -> ServedAnswer {
        guard let upload = upload(request) else { return S3Error.answer(404, "NoSuchUpload") }
        uploads[upload.id] = nil
        return ServedAnswer(204)
    }

    // MARK: Complete

    /// Putting parts together takes time.
    func labour(_ request: ServedRequest) -> Labour? {
        guard request.method == "POST", request.query["uploadId"] != nil, network.weather.strikes(oneIn: 6) else {
            return nil
        }
        return Labour(network.weather.chance.duration(.seconds(1), .seconds(90)))
    }

    func complete(_ request: ServedRequest, _ key: String) -> ServedAnswer {
        guard let upload = upload(request) else { return S3Error.answer(404, "NoSuchUpload") }
        if character.losesUploads {
            uploads[upload.id] = nil
            return S3Error.answer(404, "NoSuchUpload")
        }
        if let refusal = violated(request, key) { return refusal }
        if request.fields["if-none-match"] != nil, network.weather.strikes(oneIn: 30) {
            return S3Error.answer(409, "ConditionalRequestConflict")
        }
        // 200 was said before the verdict was known (django-s3-file-field #209).
        if network.weather.strikes(oneIn: 20) {
            return ServedAnswer(200, body: Array("\n \n ".utf8) + S3Error.body("InternalError"))
        }
        let listed = Self.listed(request.body)
        var bytes: [UInt8] = []
        var sums: [UInt8] = []
        for (index, (number, tag)) in listed.enumerated() {
            guard let part = upload.parts[number], part.tag == tag else { return S3Error.answer(400, "InvalidPart") }
            if index + 1 < listed.count, part.bytes.count < Self.smallestPart {
                return S3Error.answer(400, "EntityTooSmall")
            }
            bytes += part.bytes
            sums += part.md5
        }
        uploads[upload.id] = nil
        let tag = tag("\(DigestAlgorithm.md5.digest(of: sums).hex)-\(listed.count)")
        store(bytes, tag, upload.marks, at: key)
        let text = "<CompleteMultipartUploadResult><ETag>\(tag)</ETag></CompleteMultipartUploadResult>"
        return ServedAnswer(200, body: Array(text.utf8))
    }

    /// Number and tag of each part that a Complete names.
    private static func listed(_ body: [UInt8]) -> [(Int, String)] {
        String(decoding: body, as: UTF8.self).components(between: "<Part>", and: "</Part>").compactMap { part in
            guard
                let number = part.components(between: "<PartNumber>", and: "</PartNumber>").first.flatMap({ Int($0) }),
                let tag = part.components(between: "<ETag>", and: "</ETag>").first
            else { return nil }
            return (number, tag.replacing("&quot;", with: "\""))
        }
    }

    // MARK: By itself

    var unfinished: [Unfinished] {
        if character.life != nil { return [] }
        return uploads.values.filter { !$0.parts.isEmpty }.sorted { $0.id < $1.id }.map {
            Unfinished(name: $0.id, what: "the upload \($0.id) of \($0.key)")
        }
    }

    func tidy() {
        guard let life = character.life else { return }
        for upload in uploads.values.sorted(by: { $0.id < $1.id }) where upload.begun + life < disk.now {
            network.world.tell(disk.host, "throws the upload \(upload.id) away, whose time is over")
            uploads[upload.id] = nil
        }
    }
}

extension String {
    /// The texts between each pair of marks.
    func components(between start: String, and end: String) -> [String] {
        var found: [String] = []
        var rest = self[...]
        while let first = rest.firstRange(of: start), let last = rest[first.upperBound...].firstRange(of: end) {
            found.append(String(rest[first.upperBound..<last.lowerBound]))
            rest = rest[last.upperBound...]
        }
        return found
    }
}
