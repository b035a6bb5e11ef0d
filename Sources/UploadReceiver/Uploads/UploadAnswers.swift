import LinuxSystem

/// The answers to a client about its upload, in its dialect. One place for every success; refusals are in `UploadRefusal`.
struct UploadAnswers {
    let dialect: UploadDialect
    let id: UploadID
    let limits: ReceiverConfiguration.Limits
    /// Seconds since 1970.
    let now: Int64

    /// The upload has begun and is not complete.
    func created(_ record: UploadRecord, offset: UInt64, bodyCame: Bool) -> Answer {
        var fields = [location]
        switch dialect {
        case .tus:
            if bodyCame { fields.append(.offset(offset)) }
            if !record.isWhole(at: offset) { fields.append(expires(now)) }
        case .ietf(let version):
            fields +=
                [version.completeness(false), .offset(offset)] + limit(version, expiresAfter: limits.unfinishedLifetime)
        }
        return answer(.created, fields)
    }

    /// Bytes were appended and more must come.
    func appended(_ record: UploadRecord, offset: UInt64) -> Answer {
        switch dialect {
        case .tus:
            answer(.noContent, [.offset(offset)] + (record.isWhole(at: offset) ? [] : [expires(now)]))
        case .ietf(let version):
            answer(
                version.appendStatus,
                [version.completeness(false), .offset(offset)]
                    + limit(version, expiresAfter: limits.unfinishedLifetime))
        }
    }

    /// The file has its name. For the IETF this is the answer that a PUT of the whole file would have had.
    func finished(
        _ record: UploadRecord, offset: UInt64, isCreation: Bool, bodyCame: Bool, created: Bool, facts: FileFacts,
        digest: Answer.Field?
    ) -> Answer {
        var fields = Answer.Field.version(facts) + [contentLocation(record.path)]
        if let digest { fields.append(digest) }
        switch dialect {
        case .tus:
            if isCreation { fields.append(location) }
            if !isCreation || bodyCame { fields.append(.offset(offset)) }
            return answer(isCreation ? .created : .noContent, fields)
        case .ietf(let version):
            return answer(created ? .created : .noContent, fields + [version.completeness(true), .offset(offset)])
        }
    }

    /// HEAD: how far it is. `lastWritten` is in seconds since 1970.
    func status(_ facts: UploadFacts, lastWritten: Int64) -> Answer {
        let record = facts.record
        var fields: [Answer.Field] = [.offset(facts.offset), .notStored]
        if facts.isPublished { fields.append(contentLocation(record.path)) }
        if let length = record.length { fields.append(Answer.Field(name: "Upload-Length", value: String(length))) }
        switch dialect {
        case .tus:
            if record.length == nil { fields.append(Answer.Field(name: "Upload-Defer-Length", value: "1")) }
            if let metadata = record.metadata { fields.append(Answer.Field(name: "Upload-Metadata", value: metadata)) }
            switch record.role {
            case .file: break
            case .partial: fields.append(Answer.Field(name: "Upload-Concat", value: "partial"))
            case .joined(let list): fields.append(Answer.Field(name: "Upload-Concat", value: list))
            }
            if !facts.isPublished { fields.append(expires(lastWritten)) }
            return answer(.ok, fields)
        case .ietf(let version):
            fields.append(version.completeness(facts.isPublished))
            if !facts.isPublished {
                fields += limit(version, expiresAfter: max(0, lastWritten + limits.unfinishedLifetime - now))
            }
            return answer(.noContent, fields)
        }
    }

    /// DELETE.
    func removed() -> Answer { answer(.noContent, []) }

    func refused(_ refusal: UploadRefusal) -> Answer {
        let answer = refusal.answer(in: dialect)
        return answer.with(Self.version(dialect))
    }

    /// The field that every answer in a dialect has.
    static func version(_ dialect: UploadDialect) -> [Answer.Field] {
        switch dialect {
        case .tus: [Answer.Field(name: "Tus-Resumable", value: Tus.version)]
        case .ietf(let version):
            [Answer.Field(name: "Upload-Draft-Interop-Version", value: String(version.rawValue))]
        }
    }

    /// `Upload-Limit`, from the draft on that has it. Without a largest size it says so by naming no smallest one.
    static func limit(
        _ version: InteropVersion, _ limits: ReceiverConfiguration.Limits, expiresAfter seconds: Int64?
    ) -> [Answer.Field] {
        guard version >= .six else { return [] }
        var members = [limits.maximumSize.map { "max-size=\($0)" } ?? "min-size=0"]
        if let seconds { members.append("\(version >= .eight ? "max-age" : "expires")=\(seconds)") }
        return [Answer.Field(name: "Upload-Limit", value: members.joined(separator: ", "))]
    }

    private var location: Answer.Field { Answer.Field(name: "Location", value: id.target) }

    /// The field that names the path at which the file can be read.
    private func contentLocation(_ path: TargetPath) -> Answer.Field {
        Answer.Field(name: "Content-Location", value: path.target)
    }

    private func expires(_ lastWritten: Int64) -> Answer.Field {
        Answer.Field(
            name: "Upload-Expires", value: HTTPDate(secondsSince1970: lastWritten + limits.unfinishedLifetime).field)
    }

    private func limit(_ version: InteropVersion, expiresAfter seconds: Int64) -> [Answer.Field] {
        Self.limit(version, limits, expiresAfter: seconds)
    }

    private func answer(_ status: Status, _ fields: [Answer.Field]) -> Answer {
        .plain(status, Self.version(dialect) + fields)
    }
}

extension UploadAnswers {
    /// OPTIONS: what the receiver can do, for clients of every kind.
    static func capabilities(
        _ spoken: SpokenDialect, _ limits: ReceiverConfiguration.Limits, ofUpload isUpload: Bool
    ) -> Answer {
        var fields: [Answer.Field] = [isUpload ? .allowedOnUpload : .allow, .acceptsRanges]
        fields += [
            Answer.Field(name: "Accept-Patch", value: "\(UploadAppend.tusType), \(UploadAppend.draftType)"),
            Answer.Field(name: "Tus-Resumable", value: Tus.version),
            Answer.Field(name: "Tus-Version", value: Tus.version),
            Answer.Field(
                name: "Tus-Extension",
                value:
                    "creation,creation-with-upload,creation-defer-length,expiration,checksum,termination,concatenation"),
            Answer.Field(
                name: "Tus-Checksum-Algorithm", value: PieceClaim.algorithms.map(\.name).joined(separator: ",")),
        ]
        // What an upload's URL takes comes too late to name a digest for the whole.
        if !isUpload { fields.append(.wantsDigest) }
        if let maximum = limits.maximumSize {
            fields.append(Answer.Field(name: "Tus-Max-Size", value: String(maximum)))
        }
        // A draft is offered only to who names it: its clients know by that whether they may create uploads carefully.
        if case .known(.ietf(let version)) = spoken {
            fields += Self.version(.ietf(version)) + limit(version, limits, expiresAfter: limits.unfinishedLifetime)
        }
        return .plain(.noContent, fields)
    }

    /// 104 (Upload Resumption Supported), as bytes: it goes out past the library while the body still comes in.
    static func interim(_ version: InteropVersion, _ fields: [Answer.Field]) -> [UInt8] {
        var text = "HTTP/1.1 104 Upload Resumption Supported\r\n"
        for field in Self.version(.ietf(version)) + fields { text += "\(field.name): \(field.value)\r\n" }
        return Array((text + "\r\n").utf8)
    }

    /// The first 104: where the upload can be resumed.
    func announcement(_ version: InteropVersion) -> [UInt8] {
        Self.interim(version, [location] + limit(version, expiresAfter: limits.unfinishedLifetime))
    }
}

extension TargetPath {
    /// The path as it stands in a URL.
    var target: String { "/" + components.map(Self.percentEncoded).joined(separator: "/") }
}
