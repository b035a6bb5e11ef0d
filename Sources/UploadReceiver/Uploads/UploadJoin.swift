import LinuxSystem

/// tus's concatenation: a request that joins partial uploads to a file.
struct UploadJoin: Equatable, Sendable {
    let pieces: [UploadID]
    let record: UploadRecord
    /// The same pieces and the same name give the same upload, so a client that did not get the answer may ask again.
    let id: UploadID

    /// Reads `final;URL URL …`.
    init(
        _ head: RequestHead, _ list: String, _ target: TargetPath, _ conditions: Preconditions, unnamed: String
    ) throws(UploadRefusal) {
        if head.fields["upload-length"] != nil { throw .unwantedField("Upload-Length") }
        if head.body != .none { throw .unwantedField("Content-Length") }
        guard let metadata = UploadMetadata(head.fields["upload-metadata"]) else { throw .badField("Upload-Metadata") }
        let urls = list.dropFirst(Self.prefix.count).split(separator: " ")
        guard urls.count <= Self.mostPieces else { throw .tooManyPieces(most: Self.mostPieces) }
        pieces = urls.compactMap { UploadID(target: $0.utf8) }
        guard !pieces.isEmpty, pieces.count == urls.count else { throw .badField("Upload-Concat") }
        // A piece is copied each time that it is named.
        guard Set(pieces).count == pieces.count else { throw .pieceTwice }
        let path: TargetPath
        do {
            path = try UploadName.path(target, metadata, unnamed: unnamed)
        } catch {
            throw .name(error)
        }
        var record = UploadRecord(path: path, completesByLength: true)
        record.role = .joined(list)
        record.metadata = head.fields["upload-metadata"]
        record.created = WallClock.milliseconds
        try record.takeConditions(conditions, head.fields, metadata["overwrite"])
        try record.takeDigestFields(head.fields)
        self.record = record
        id = UploadID(standingFor: (pieces.map(\.text) + [metadata.isEmpty ? "" : path.target]).joined(separator: " "))
    }

    static let prefix = "final;"
    /// All pieces are open while they are joined, and the receiver has descriptors for others to serve.
    static let mostPieces = 256
}

/// Serves a join. The pieces are copied, so that a kill in the middle loses none; they go when the file has its name.
final class UploadJoinRequest: ServedRequest {
    private let context: ReceiverContext
    private let head: RequestHead
    private let join: UploadJoin
    private let settling = Settling()

    init(_ context: ReceiverContext, _ head: RequestHead, _ join: UploadJoin) {
        self.context = context
        self.head = head
        self.join = join
    }

    func headArrived() -> Answer? { nil }
    func bytesArrived(_ bytes: UnsafeRawBufferPointer) -> Answer? { nil }

    func bodyEnded() -> RequestStep {
        .work { [context, join, settling] done in
            context.uploads.submit {
                do throws(UploadRefusal) {
                    settling.end = try Self.join(join, context)
                } catch {
                    settling.end = .refused(error)
                }
                done()
            }
        }
    }

    func workEnded() -> RequestStep {
        let answers = context.answers(.tus, join.id)
        switch settling.end {
        case .refused(let refusal):
            let answer = answers.refused(refusal)
            context.journal.report(.refused(head.method, join.record.path, answer, from: head.peer))
            return .answer(answer)
        case .published(let facts, let offset, let replaced, let digest):
            context.report(published: join.record, size: offset, replaced: replaced, from: head.peer)
            return .answer(
                answers.finished(
                    join.record, offset: offset, isCreation: true, bodyCame: false, created: !replaced, facts: facts,
                    digest: digest.map { .digest($0) }))
        case .kept(let offset): return .answer(answers.created(join.record, offset: offset, bodyCame: false))
        case .removed: return .answer(answers.refused(.noSuchUpload))
        }
    }

    func ended(_ ending: ExchangeEnding) {}

    private static func join(_ join: UploadJoin, _ context: ReceiverContext) throws(UploadRefusal) -> UploadEnd {
        // A client that grew tired of waiting asks again: it must not take the copy away that is being made for it.
        guard context.uploads.beginJoin(join.id) else { throw .busy }
        defer { context.uploads.endJoin(join.id) }
        if let earlier = try context.acquire(join.id) {
            defer { context.uploads.release(earlier) }
            if earlier.facts.isPublished {
                // A kill may have come before its name was on the disk: the pieces stay until it is.
                let end = context.uploads.status(earlier)
                if case .kept = end { removePieces(of: join, context) }
                return end
            }
            // A kill came between: it is copied anew.
            context.uploads.remove(earlier)
        }
        if let refusal = context.refusal(toPublish: join.record) { throw refusal }
        var pieces: [LiveUpload] = []
        defer { for piece in pieces { context.uploads.release(piece) } }
        var length: UInt64 = 0
        for id in join.pieces {
            guard let piece = try context.acquire(id) else { throw .piecesMissing }
            pieces.append(piece)
            let facts = piece.facts
            guard facts.record.role == .partial, facts.record.isWhole(at: facts.offset) else { throw .piecesMissing }
            length = length.addingReportingOverflow(facts.offset).overflow ? .max : length + facts.offset
        }
        do {
            return try copy(pieces, length, join, context)
        } catch {
            throw .after(error)
        }
    }

    /// A kill may have come between the file's name and their removal.
    private static func removePieces(of join: UploadJoin, _ context: ReceiverContext) {
        for id in join.pieces {
            guard let piece = try? context.acquire(id) else { continue }
            if piece.facts.record.role == .partial { context.uploads.remove(piece) }
            context.uploads.release(piece)
        }
    }

    private static func copy(
        _ pieces: [LiveUpload], _ length: UInt64, _ join: UploadJoin, _ context: ReceiverContext
    ) throws(Errno) -> UploadEnd {
        let limits = context.configuration.limits
        if let maximum = limits.maximumSize, length > maximum { return .refused(.file(.tooLarge(limit: maximum))) }
        guard try context.room.has(length) else { return .refused(.file(.noRoom)) }
        var record = join.record
        record.length = length
        if let refusal = context.uploads.refusalToBegin() { return .refused(refusal) }
        let joined = try context.uploads.create(record, named: join.id)
        defer { context.uploads.release(joined) }
        do {
            for piece in pieces {
                if let data = piece.data { try joined.append(contentsOf: data, unless: { context.uploads.isStopping }) }
            }
        } catch {
            context.uploads.remove(joined)
            throw error
        }
        let end = context.uploads.finish(joined)
        switch end {
        case .published: for piece in pieces { context.uploads.remove(piece) }
        // It has its name, which the disk has not taken for certain: whoever asks again hears of that.
        case .refused where joined.facts.isPublished: break
        // The pieces are still there to be joined under another name.
        case .kept, .removed, .refused: context.uploads.remove(joined)
        }
        return end
    }
}
