import FoundationEssentials
import LinuxSystem
import TransferModel

/// Files of a model server as it tells of them over HTTP: reading, tags, digests and conditions.
final class ServedFiles {
    private let disk: ServerDisk
    var tellsTags = true
    /// The SHA-256, where it is asked for.
    var tellsDigests = false
    /// Tags are numbers that rise with each change of a file.
    private var tags: [ObjectIdentifier: (file: RemoteFile, digest: String, number: Int)] = [:]
    private var lastTag = 0

    init(_ disk: ServerDisk) { self.disk = disk }

    /// 412 where `If-None-Match: *` or `If-Match` does not hold of what has the name.
    func violated(_ request: ServedRequest, at path: String) -> ServedAnswer? {
        let file = disk.file(path)
        if request.fields["if-none-match"] == "*", file != nil { return ServedAnswer(412) }
        if let wanted = request.fields["if-match"], file.map(tag) != wanted { return ServedAnswer(412) }
        return nil
    }

    /// Answers GET and HEAD.
    func read(_ request: ServedRequest) -> ServedAnswer {
        guard let file = disk.file(request.path) else { return ServedAnswer(404, [date]) }
        var fields = facts(file, request) + [("Last-Modified", HTTPTime.text(file.modified)), date]
        fields.append(("Accept-Ranges", "bytes"))
        if request.method == "GET", let start = range(request, file) {
            if start >= file.bytes.count {
                return ServedAnswer(416, [("Content-Range", "bytes */\(file.bytes.count)")])
            }
            fields.append(("Content-Range", "bytes \(start)-\(file.bytes.count - 1)/\(file.bytes.count)"))
            fields.append(("Content-Length", "\(file.bytes.count - start)"))
            return answer(206, fields, file, from: start)
        }
        fields.append(("Content-Length", "\(file.bytes.count)"))
        return request.method == "GET" ? answer(200, fields, file, from: 0) : ServedAnswer(200, fields)
    }

    private func answer(
        _ status: Int, _ fields: [(String, String)], _ file: RemoteFile, from start: Int
    ) -> ServedAnswer {
        var answer = ServedAnswer(status, fields)
        answer.file = FileReading(file, start..<file.bytes.count)
        return answer
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

    var date: (String, String) { ("Date", HTTPTime.text(disk.now)) }

    func facts(_ file: RemoteFile, _ request: ServedRequest) -> [(String, String)] {
        var fields: [(String, String)] = []
        if tellsTags { fields.append(("ETag", tag(file))) }
        if tellsDigests, request.fields["want-repr-digest"] != nil {
            fields.append(("Repr-Digest", "sha-256=:\(Contents.base64Digest(file.bytes)):"))
        }
        return fields
    }

    func tag(_ file: RemoteFile) -> String {
        let digest = file.digest
        if let known = tags[ObjectIdentifier(file)], known.digest == digest { return "\"t\(known.number)\"" }
        lastTag += 1
        tags[ObjectIdentifier(file)] = (file, digest, lastTag)
        return "\"t\(lastTag)\""
    }
}
