import FoundationEssentials
import LinuxSystem
import TransferModel

/// A model server for PUT, GET, HEAD and DELETE: nginx with its WebDAV module, and others less strict.
final class PutServer: HTTPServer {
    let disk: ServerDisk
    let character: ServerCharacter
    private let network: Network
    /// Tags are numbers that rise with each change of a file.
    private var tags: [ObjectIdentifier: (file: RemoteFile, digest: String, number: Int)] = [:]
    private var lastTag = 0

    init(_ disk: ServerDisk, _ character: ServerCharacter, _ network: Network) {
        self.disk = disk
        self.character = character
        self.network = network
    }

    func begin(_ request: ServedRequest) -> ServedAnswer? {
        if let refusal = refusal() { return refusal }
        switch request.method {
        case "PUT":
            if let refusal = violated(request) { return refusal }
            if character.truncatesAtOpen {
                let file = RemoteFile(modified: disk.now)
                request.target = file
                disk.put(file, at: request.path)
            }
            return nil
        case "GET", "HEAD", "DELETE", "OPTIONS": return nil
        default: return ServedAnswer(405)
        }
    }

    /// As servers that are overloaded, behind a login that has run out, locked by somebody, or full.
    private func refusal() -> ServedAnswer? {
        guard network.weather.strikes(oneIn: 40) else { return nil }
        switch network.weather.chance.below(8) {
        case 0: return ServedAnswer(401, [("WWW-Authenticate", "Basic realm=\"files\"")])
        case 1: return ServedAnswer(403)
        case 2: return ServedAnswer(409)
        case 3: return ServedAnswer(423)
        case 4: return ServedAnswer(507)
        case 5: return ServedAnswer(503, [("Retry-After", "\(network.weather.chance.below(120))")])
        case 6: return ServedAnswer(502)
        default: return ServedAnswer(500)
        }
    }

    private func violated(_ request: ServedRequest) -> ServedAnswer? {
        if character.ignoresConditions { return nil }
        let file = disk.file(request.path)
        if request.fields["if-none-match"] == "*", file != nil { return ServedAnswer(412) }
        if let wanted = request.fields["if-match"] {
            if file.map(tag) != wanted { return ServedAnswer(412) }
        }
        return nil
    }

    func received(_ piece: [UInt8], _ request: ServedRequest) {
        guard let file = request.target else { return }
        file.bytes += piece
        file.modified = disk.now
        if disk.file(request.path) === file { disk.changed(request.path) }
    }

    func broken(_ request: ServedRequest) {}

    func finish(_ request: ServedRequest) -> ServedAnswer {
        switch request.method {
        case "PUT":
            // Another may have come first meanwhile.
            if request.target == nil, let refusal = violated(request) { return refusal }
            let isNew = disk.file(request.path) == nil
            let file = request.target ?? RemoteFile(request.body, modified: disk.now)
            file.modified = disk.now
            disk.put(file, at: request.path)
            return ServedAnswer(isNew ? 201 : 204, facts(file, request))
        case "DELETE":
            guard disk.file(request.path) != nil else { return ServedAnswer(404) }
            disk.put(nil, at: request.path)
            return ServedAnswer(204)
        case "OPTIONS": return ServedAnswer(200, [("Allow", "GET, HEAD, PUT, DELETE, OPTIONS")])
        default: return read(request)
        }
    }

    private func read(_ request: ServedRequest) -> ServedAnswer {
        guard let file = disk.file(request.path) else { return ServedAnswer(404, [date]) }
        var fields = facts(file, request) + [("Last-Modified", HTTPTime.text(file.modified)), date]
        fields.append(("Accept-Ranges", "bytes"))
        if request.method == "GET", let start = range(request, file) {
            if start >= file.bytes.count {
                return ServedAnswer(416, [("Content-Range", "bytes */\(file.bytes.count)")])
            }
            fields.append(("Content-Range", "bytes \(start)-\(file.bytes.count - 1)/\(file.bytes.count)"))
            fields.append(("Content-Length", "\(file.bytes.count - start)"))
            return ServedAnswer(206, fields, body: Array(file.bytes[start...]))
        }
        fields.append(("Content-Length", "\(file.bytes.count)"))
        return ServedAnswer(200, fields, body: request.method == "GET" ? file.bytes : [])
    }

    /// The offset that a `Range` without an end asks for, where its condition holds.
    private func range(_ request: ServedRequest, _ file: RemoteFile) -> Int? {
        guard let text = request.fields["range"], text.hasPrefix("bytes="), text.hasSuffix("-") else { return nil }
        if let condition = request.fields["if-range"], condition != tag(file),
            condition != HTTPTime.text(file.modified)
        {
            return nil
        }
        return Int(text.dropFirst(6).dropLast())
    }

    private var date: (String, String) { ("Date", HTTPTime.text(disk.now)) }

    private func facts(_ file: RemoteFile, _ request: ServedRequest) -> [(String, String)] {
        var fields: [(String, String)] = []
        if character.tellsTags { fields.append(("ETag", tag(file))) }
        if character.tellsDigests, request.fields["want-repr-digest"] != nil {
            fields.append(("Repr-Digest", "sha-256=:\(Contents.base64Digest(file.bytes)):"))
        }
        return fields
    }

    private func tag(_ file: RemoteFile) -> String {
        let digest = file.digest
        if let known = tags[ObjectIdentifier(file)], known.digest == digest { return "\"t\(known.number)\"" }
        lastTag += 1
        tags[ObjectIdentifier(file)] = (file, digest, lastTag)
        return "\"t\(lastTag)\""
    }
}
