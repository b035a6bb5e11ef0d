import Digests

/// The receiver's facts about an upload: the `info` file beside its bytes. The record outlives the receiver, and the bytes too:
/// the rename that publishes takes the bytes away, and the record stays for a client that did not get the answer.
struct UploadRecord: Equatable, Sendable {
    /// The purpose of the bytes.
    enum Role: Equatable, Sendable {
        /// A file of its own.
        case file
        /// tus: a piece that will be joined with others.
        case partial
        /// tus: the join of pieces; the list as it is told again in `Upload-Concat`.
        case joined(String)
    }

    /// The path under which it will be published.
    var path: TargetPath
    var role = Role.file
    /// True when it is complete as soon as it has its length (tus); false when only the client says so (IETF).
    var completesByLength: Bool
    /// In bytes, once it is known.
    var length: UInt64?
    /// The conditions on the file that may be there, checked at the beginning and when it is published.
    var conditions = Preconditions()
    /// True when the client named no conditions and these are our own precaution: then a name that is taken is a conflict, not a
    /// failed condition.
    var conditionsAreImplied = false
    /// The SHA-256 that the whole file must have.
    var claim: DigestValue?
    /// True when the client asked for the SHA-256 of the whole file.
    var wantsDigest = false
    /// tus's `Upload-Metadata`, to be told again.
    var metadata: String?
    /// Milliseconds since 1970.
    var created: Int64 = 0
    /// The offsets at which it went on after it was cut or the receiver was restarted.
    var resumedAt: [UInt64] = []
    /// A receiver of this version made it, which writes down that the file has its name. Of earlier ones a record without bytes says that.
    var tellsPublication = true
    /// The file that has the bytes: a rename keeps it, so a file of that length and another inode is another file.
    var inode: UInt64?
    /// The file has its name. Written after that, so a kill may leave it out.
    var isPublished = false

    /// Returns true when it is complete with `size` bytes, by its length alone.
    func isWhole(at size: UInt64) -> Bool { completesByLength && length == size }

    /// The refusal when the conditions forbid to replace the existing file.
    func refusal(over existing: FileFacts?) -> UploadRefusal {
        conditionsAreImplied ? .exists : .file(.conditionFailed(existing))
    }

    /// The file: one fact a line, and a line that ends them, so that a torn file is known for one.
    var text: String {
        var lines = [Self.firstLine, "path \(path.components.map(TargetPath.percentEncoded).joined(separator: "/"))"]
        switch role {
        case .file: break
        case .partial: lines.append("role partial")
        case .joined(let list): lines.append("role \(list)")
        }
        lines.append("complete \(completesByLength ? "by-length" : "when-told")")
        if let length { lines.append("length \(length)") }
        for (name, value) in conditions.fields { lines.append("\(name) \(value)") }
        if conditionsAreImplied { lines.append("implied conditions") }
        if let claim { lines.append("sha-256 \(claim.hex)") }
        if wantsDigest { lines.append("wants sha-256") }
        if let metadata { lines.append("metadata \(metadata)") }
        if tellsPublication { lines.append("tells publication") }
        if let inode { lines.append("inode \(inode)") }
        lines += ["created \(created)", Self.lastLine]
        lines += resumedAt.map(Self.resumption) + (isPublished ? [Self.publication] : [])
        return lines.map { $0 + "\n" }.joined()
    }

    /// The line that is appended when an upload goes on.
    static func resumption(at offset: UInt64) -> String { "resumed \(offset)" }

    /// The line that is appended when the file has its name.
    static let publication = "published"

    /// Reads the file; `nil` when it is torn or was never ours.
    init?(text: String) {
        // By bytes: a carriage return before the line's end is no part of it to `Character`.
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            Substring($0)
        }
        guard lines.first == Substring(Self.firstLine), let end = lines.firstIndex(of: Substring(Self.lastLine)) else {
            return nil
        }
        var facts: [Substring: Substring] = [:]
        for line in lines[1..<end] {
            let halves = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            facts[halves[0]] = halves.count == 2 ? halves[1] : ""
        }
        guard let path = facts["path"].flatMap({ try? TargetPath(target: Array("/\($0)".utf8)) }),
            let completion = facts["complete"], let conditions = Preconditions(Self.conditionFields(facts))
        else { return nil }
        self.init(path: path, completesByLength: completion == "by-length")
        role = facts["role"].map { $0 == "partial" ? .partial : .joined(String($0)) } ?? .file
        if let field = facts["length"] {
            guard case .count(let count) = CountField(String(field)) else { return nil }
            length = count
        }
        self.conditions = conditions
        conditionsAreImplied = facts["implied"] != nil
        claim = facts["sha-256"].flatMap { Hexadecimal.decode($0) }.map { DigestValue(bytes: $0) }
        wantsDigest = facts["wants"] != nil
        tellsPublication = facts["tells"] != nil
        inode = facts["inode"].flatMap { UInt64($0) }
        metadata = facts["metadata"].map(String.init)
        created = max(0, facts["created"].flatMap { Int64($0) } ?? 0)
        // The last line may be torn: what does not read as a number is left out.
        resumedAt = lines[end...].dropFirst().compactMap { line in
            line.hasPrefix("resumed ") ? UInt64(line.dropFirst("resumed ".count)) : nil
        }
        isPublished = lines[end...].contains(Substring(Self.publication))
    }

    /// Somebody may ask for the upload after a power cut right behind its publication. Not where tus creates it and sends all of it in one
    /// request: its URL comes with the answer, and what had another request before is on the disk.
    var outlivesPublication: Bool {
        if case .joined = role { return true }
        return !completesByLength
    }

    /// True of text that is no record, but was going to be one of ours: torn by a power cut, which may leave no bytes, or zeros.
    static func isTorn(_ text: String) -> Bool {
        UploadRecord(text: text) == nil
            && (text.utf8.allSatisfy { $0 == 0 } || text.hasPrefix(firstLine + "\n") || firstLine.hasPrefix(text))
    }

    init(path: TargetPath, completesByLength: Bool) {
        self.path = path
        self.completesByLength = completesByLength
    }

    private static let firstLine = "martlet-upload 1"
    private static let lastLine = "end"

    private static func conditionFields(_ facts: [Substring: Substring]) -> RequestFields {
        var fields = RequestFields()
        for name in Preconditions.fieldNames {
            if let value = facts[Substring(name)] { fields.append(name, String(value)) }
        }
        return fields
    }
}
