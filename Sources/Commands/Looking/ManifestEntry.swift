import MartletKit

/// One completed file of a manifest: with `--json` one object a line.
struct ManifestEntry: Codable, Sendable {
    var task: TaskID
    /// Below the destination, or on this machine where it was received; what cannot be shown stands there as `\xNN`.
    var path: String
    var pathBase64: String?
    var bytes: Int64
    @OrNull var sha256: String?
    /// The source of the file, and its destination.
    var source: String
    var sourceBase64: String?
    var remote: String
    var remoteBase64: String?
    @OrNull var etag: String?
    @OrNull var finishedAt: Timestamp?
    /// The proof: `digest`, `size` or `none`, by the answers to the file itself.
    var verified: Verification
    /// The status of the server's answer, where that is all there is; missing otherwise.
    var answered: Int?
    @OrNull var listed: Bool?

    /// The bytes of `path`.
    private(set) var name: RawPath
    private var isTakenOnTrust = false

    private enum CodingKeys: CodingKey {
        case task, path, pathBase64, bytes, sha256, source, sourceBase64, remote, remoteBase64, etag
        case finishedAt, verified, answered, listed
    }

    /// - Parameter destination: of the batch.
    init(_ task: TaskSnapshot, destination: String) {
        self.task = task.id
        name = Self.name(of: task, destination)
        (path, pathBase64) = name.shown
        bytes = task.bytesTotal ?? 0
        _sha256 = OrNull(wrappedValue: task.digest.flatMap { $0.algorithm == "sha-256" ? $0.value : nil })
        (source, sourceBase64) = (task.source, task.sourceBase64)
        (remote, remoteBase64) = (task.destination, task.destinationBase64)
        _etag = OrNull(wrappedValue: task.etag)
        _finishedAt = OrNull(wrappedValue: task.finishedAt)
        verified = task.verified
        answered = task.answered
        isTakenOnTrust = task.isTakenOnTrust
        _listed = OrNull(wrappedValue: task.listed)
    }

    init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        task = try object.decode(TaskID.self, forKey: .task)
        path = try object.decode(String.self, forKey: .path)
        pathBase64 = try object.decodeIfPresent(String.self, forKey: .pathBase64)
        name = RawPath(shown: path, base64: pathBase64)
        bytes = try object.decode(Int64.self, forKey: .bytes)
        _sha256 = try object.decode(OrNull<String>.self, forKey: .sha256)
        source = try object.decode(String.self, forKey: .source)
        sourceBase64 = try object.decodeIfPresent(String.self, forKey: .sourceBase64)
        remote = try object.decode(String.self, forKey: .remote)
        remoteBase64 = try object.decodeIfPresent(String.self, forKey: .remoteBase64)
        _etag = try object.decode(OrNull<String>.self, forKey: .etag)
        _finishedAt = try object.decode(OrNull<Timestamp>.self, forKey: .finishedAt)
        verified = try object.decode(Verification.self, forKey: .verified)
        answered = try object.decodeIfPresent(Int.self, forKey: .answered)
        _listed = try object.decode(OrNull<Bool>.self, forKey: .listed)
    }

    /// As whoever stands in the folder at the other end would call it.
    private static func name(of task: TaskSnapshot, _ destination: String) -> RawPath {
        guard task.direction == .upload else { return task.finalPlace ?? task.destinationPath }
        let isBelow = destination.hasSuffix("/") && task.destination.hasPrefix(destination)
        let encoded =
            isBelow
            ? task.destination.dropFirst(destination.count)
            : task.destination.split(separator: "/").last.map { $0[...] } ?? ""
        return RawPath(PercentText.decoded(encoded.utf8))
    }

    /// The proof in words.
    var proof: String {
        let answer = isTakenOnTrust ? answered.map { "answered \($0)" } ?? "answered" : nil
        let words = [verified == .none ? answer : verified.rawValue, listed == true ? "listed" : nil].compactMap(\.self)
        return words.isEmpty ? "none" : words.joined(separator: "+")
    }

    /// Tabs between what a program may want to cut apart; the path comes last.
    var line: String {
        [
            sha256 ?? "-", "\(bytes)", finishedAt?.description ?? "-", proof, etag ?? "-", remote, path,
        ].joined(separator: "\t")
    }

    /// As `sha256sum -c` reads it: a backslash in front says that those within the name, and its line ends, are escaped. `nil`: no digest is
    /// known.
    var checkLine: [UInt8]? {
        guard let sha256 else { return nil }
        var escaped: [UInt8] = []
        for byte in name.bytes {
            switch byte {
            case UInt8(ascii: "\\"): escaped += Array("\\\\".utf8)
            case UInt8(ascii: "\n"): escaped += Array("\\n".utf8)
            case UInt8(ascii: "\r"): escaped += Array("\\r".utf8)
            default: escaped.append(byte)
            }
        }
        let mark = escaped.count == name.bytes.count ? "" : "\\"
        return Array("\(mark)\(sha256)  ".utf8) + escaped
    }
}
