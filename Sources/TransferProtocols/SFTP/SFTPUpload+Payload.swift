import TransferModel
import WireOperations

/// The bytes: in pieces to the same offsets, then what ends the file, and what becomes of a refusal.
extension SFTPUpload {
    /// - Parameter size: bytes of the file that the server has; what lies before them may be sent again all the same.
    mutating func send(_ handle: SFTPHandle, from start: Int64, has size: Int64) -> [ProtocolAction] {
        let isPartial = size < plan.subject.size && point.removesOld == true
        // A part of a file must not get the name of the file that was removed for it.
        if isPartial { point.removesOld = nil }
        let isResent = start < plan.subject.size && point.isComplete == true
        if isResent { point.isComplete = nil }
        // A next attempt must not trust what was confirmed of a longer file, or of one that is gone.
        let isLess = start < confirmed
        confirmed = min(start, confirmed)
        let isOther = isPartial || isResent || isLess
        if isOther {
            isDurable = false
        }
        var actions: [ProtocolAction] = isLess ? [.accepted(start)] : []
        actions += isOther || isWorthRecording ? makeDurable() : []
        var sending = Sending(handle: handle, start: start, next: start)
        actions += fill(&sending)
        state = .sending(sending)
        return actions
    }

    /// The bytes on their way reach no further beyond the first that is not acknowledged than the resume point says.
    mutating func fill(_ sending: inout Sending) -> [ProtocolAction] {
        var actions: [ProtocolAction] = []
        let size = plan.subject.size
        while sending.next < size, sending.next < sending.acknowledged + reach {
            let length = min(reach / Self.piecesInReach, sending.acknowledged + reach - sending.next)
            let piece = Sending.Piece(id: nextID(), range: sending.next..<min(size, sending.next + length))
            sending.next = piece.range.upperBound
            sending.pieces.append(piece)
            actions.append(.perform(piece.id, .sftp(.write(sending.handle, piece.range))))
        }
        if sending.next == size, sending.closing == nil {
            var operations: [SFTPOperation] = [.setModified(sending.handle, plan.modified)]
            // One sync for each small file would take as long as the files. Most file systems write those before it along with the last one's.
            let syncs = size >= Self.small || plan.subject.isLastOfBatch
            if syncs, features.syncs { operations.append(.sync(sending.handle)) }
            operations += [.handleStatus(sending.handle), .close(sending.handle)]
            let ids = operations.map { _ in nextID() }
            sending.closing = Group(ids: ids)
            actions += zip(ids, operations).map { .perform($0, .sftp($1)) }
        }
        return actions
    }

    mutating func take(_ sending: Sending, _ id: ExchangeID, _ end: SFTPEnd) -> [ProtocolAction] {
        var sending = sending
        if let index = sending.pieces.firstIndex(where: { $0.id == id }) {
            if let through = end.writtenThrough, through > sending.pieces[index].range.lowerBound, index == 0 {
                hasAccepted = true
            }
            if end.reply != .done { return pieceFailed(sending, index, end) }
            sending.pieces.remove(at: index)
            var actions: [ProtocolAction] = index == 0 ? [.accepted(sending.acknowledged)] : []
            actions += widen(to: end.lineWindow, sending)
            actions += fill(&sending)
            state = .sending(sending)
            return actions + closedIfDone(sending)
        }
        guard sending.closing?.ids.contains(id) == true else { return [] }
        sending.closing?.ends[id] = end
        state = .sending(sending)
        return closedIfDone(sending)
    }

    /// Bytes that may be on their way. A resume point of an older version does not tell.
    var reach: Int64 { point.reach ?? Self.mostReach }

    /// A long line stands idle with few bytes on their way. More are sent once the resume point says how many.
    private mutating func widen(to line: Int64?, _ sending: Sending) -> [ProtocolAction] {
        let isOfUse = plan.subject.size - sending.next > reach
        guard let line, line > reach, reach < Self.mostReach, isOfUse, isDurable else { return [] }
        point.reach = min(reach * 2, Self.mostReach)
        isDurable = false
        return makeDurable()
    }

    mutating func pieceFailed(_ sending: Sending, _ index: Int, _ end: SFTPEnd) -> [ProtocolAction] {
        let through = end.writtenThrough ?? sending.pieces[index].range.lowerBound
        var actions: [ProtocolAction] = []
        if index == 0, through > sending.start { actions.append(.accepted(through)) }
        if let broken = end.brokenOff { return actions + over(broken) }
        guard let (status, text) = end.refusal else { return actions + over(SFTPMeaning.odd(host: plan.host)) }
        let others = sending.pieces.map(\.id).filter { $0 != sending.pieces[index].id } + (sending.closing?.ids ?? [])
        actions += others.map { .abandon($0) }
        let refusal = WriteRefusal(
            status: status, text: text, madeProgress: through > sending.start, isOnResume: sending.start > 0)
        return actions + refused(refusal)
    }

    /// The server does not take the bytes.
    private mutating func refused(_ refusal: WriteRefusal) -> [ProtocolAction] {
        // OpenSSH has one word for a full disk and for all else.
        if refusal.status == .failure, !SFTPMeaning.saysFull(refusal.text), features.tellsFreeSpace {
            let folder = point.temporary.folder
            return perform(.askingSpace(refusal), [.freeSpace(folder.bytes.isEmpty ? RawPath(".") : folder)])
        }
        return decide(refusal)
    }

    mutating func askedSpace(_ refusal: WriteRefusal, _ group: Group) -> [ProtocolAction] {
        // A disk is never filled to its last byte.
        if case .freeSpace(let bytes)? = group.last?.reply, bytes < 1 << 20 {
            return over(SFTPMeaning.full(host: plan.host))
        }
        return decide(refusal)
    }

    private mutating func decide(_ refusal: WriteRefusal) -> [ProtocolAction] {
        let (status, text) = (refusal.status, refusal.text)
        let mayBeResume = status == .failure || status == .unsupported || status == .badMessage
        if refusal.isOnResume, !refusal.madeProgress, mayBeResume, !SFTPMeaning.saysFull(text) {
            return goOnWhole("the server does not let an upload go on")
        }
        return over(SFTPMeaning.action(status, text, .store, host: plan.host, hasAccepted: hasAccepted))
    }

    /// Only whole files are taken there: what is there is removed, and the file begins anew.
    mutating func goOnWhole(_ reason: String) -> [ProtocolAction] {
        beginning.beginAnew()
        return sendAnew(reason, [learned { $0.cannotResume = true }])
    }

    private mutating func sendAnew(_ reason: String, _ lesson: [ProtocolAction]) -> [ProtocolAction] {
        isDurable = false
        return disclaim() + lesson + [startOver(reason)]
            + open(asksTarget: false, first: [.remove(point.temporary)])
    }

    /// The whole file was acknowledged and closed: is all of it there?
    mutating func closedIfDone(_ sending: Sending) -> [ProtocolAction] {
        guard let closing = sending.closing, closing.isComplete, sending.pieces.isEmpty else { return [] }
        if let broken = closing.ids.lazy.compactMap({ closing.ends[$0]?.brokenOff }).first { return over(broken) }
        let syncs = closing.ids.count == 4
        if syncs, let (status, text) = closing[1]?.refusal, status != .unsupported {
            return refused(WriteRefusal(status: status, text: text))
        }
        if let (status, text) = closing.last?.refusal {
            return refused(WriteRefusal(status: status, text: text))
        }
        seen = closing[closing.ids.count - 2]?.attributes
        if !isDirect, seen?.modified == plan.modified { point.keepsTime = true }
        let size = seen?.size
        guard let size, size != plan.subject.size else { return stored() }
        if beginning.isRepair {
            let why = "took the file but has \(size) of \(plan.subject.size) bytes"
            return over(.fail(.unverifiable(at: plan.host, why)))
        }
        beginning.beginAnew(isRepair: true)
        return sendAnew(
            "the server has \(size) of \(plan.subject.size) bytes after the last one",
            sending.start > 0 ? [learned { $0.cannotResume = true }] : [])
    }
}
