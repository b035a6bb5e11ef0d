import TransferModel
import WireOperations

/// A download over SFTP. Size and time of modification are the version: looked at before the first byte and again
/// after the last, so two versions are never mixed. The synced local file is the truth for going on.
package struct SFTPDownload: ProtocolMachine {
    private enum State {
        /// Next: `opening`, `over` (all was there already).
        case ready
        /// The file's status, and the file opened, are asked together. Next: `settling`, `receiving`, `over`.
        case opening([ExchangeID], status: SFTPEnd?, open: SFTPEnd?)
        /// It was written to a moment ago: its time tells another version apart in a moment. Next: `opening`.
        case settling
        /// Bytes flow into the local file. Next: `proving`, `over`.
        case receiving(ExchangeID, Flow)
        /// All came; is it still the same file? Next: `provingByPath`, `opening` from zero, `over`.
        case proving([ExchangeID], Flow, status: SFTPEnd?, close: SFTPEnd?)
        /// The server tells nothing of the open file: the name is asked. Next: as `proving`.
        case provingByPath(ExchangeID, Flow)
        /// `finish`, `fail` or `wait` was said. Late events are left alone.
        case over
    }

    private struct Flow {
        var point: GetResumePoint
        var handle: SFTPHandle
        /// The file's offset at which the read began.
        var start: Int64
    }

    private let plan: SFTPDownloadPlan
    private var state = State.ready
    private var resume: GetResumePoint?
    private var lastID = 0
    /// Bytes that count until a start over; a refusal after them means that a permission ran out.
    private var accepted: Int64
    /// A file that changes under each reading is left alone for a while.
    private var restarts = 0
    /// The server sent another number of bytes than it told, and was asked once more.
    private var hasAskedAgain = false
    /// Times that a file was waited for that had just been written to; one that is written to all the time is taken as it is.
    private var pauses = 0

    package init(_ plan: SFTPDownloadPlan) {
        self.plan = plan
        resume = plan.resume
        accepted = plan.resume?.offset ?? 0
    }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        switch (state, event) {
        case (.ready, .began): return begin()
        case (.settling, .timerFired(.probeAgain)): return ask()
        case (.opening(let ids, var status, var open), .sftpEnded(let id, let end)) where ids.contains(id):
            if id == ids[0] { status = end } else { open = end }
            state = .opening(ids, status: status, open: open)
            guard let status, let open else { return [] }
            return opened(status, open)
        case (.receiving(let id, var flow), .synced(let offset)):
            flow.point.offset = offset
            accepted = offset
            state = .receiving(id, flow)
            return [.persist(ResumePoint(flow.point))]
        case (.receiving(let id, let flow), .sftpEnded(let ended, let end)) where ended == id:
            return received(end, flow)
        // As in `GetDownload`.
        case (.proving(_, let flow, _, _), .synced(let offset)): return [.persist(flow.point.synced(through: offset))]
        case (.provingByPath(let id, let flow), .sftpEnded(let ended, let end)) where ended == id:
            return proved(end, flow, byPath: true)
        case (.provingByPath(_, let flow), .synced(let offset)): return [.persist(flow.point.synced(through: offset))]
        case (.proving(let ids, let flow, var status, var close), .sftpEnded(let id, let end)) where ids.contains(id):
            if id == ids[0] { status = end } else { close = end }
            state = .proving(ids, flow, status: status, close: close)
            guard let status, close != nil else { return [] }
            return proved(status, flow)
        default:
            // What belongs to an abandoned or finished operation comes too late.
            return []
        }
    }

    // MARK: Opening

    private mutating func begin() -> [ProtocolAction] {
        if plan.verify == .digest, plan.expects == nil {
            return over(.fail(.unverifiable(at: plan.host, "tells no digest of a file over SFTP")))
        }
        if let receipt = resume?.receipt(verify: plan.verify, expects: plan.expects) { return over(.finish(receipt)) }
        return ask()
    }

    private mutating func ask() -> [ProtocolAction] {
        let ids = [nextID(), nextID()]
        state = .opening(ids, status: nil, open: nil)
        return [.perform(ids[0], .sftp(.status(plan.path))), .perform(ids[1], .sftp(.openForReading(plan.path)))]
    }

    private mutating func opened(_ status: SFTPEnd, _ open: SFTPEnd) -> [ProtocolAction] {
        for end in [status, open] { if let broken = end.brokenOff { return over(broken) } }
        if status.attributes?.isFolder == true {
            return over(
                .fail(
                    TransferError(
                        .unsupported, of: plan.path, "at \(plan.host) is a folder", .queued("queue the files in it"))))
        }
        if let (status, text) = open.refusal ?? status.refusal {
            return over(SFTPMeaning.action(status, text, .read, host: plan.host, hasAccepted: accepted > 0))
        }
        guard case .opened(let handle)? = open.reply, let attributes = status.attributes else {
            return over(SFTPMeaning.odd(host: plan.host))
        }
        if let size = attributes.size, !FileSize.isPossible(size) {
            return over(.fail(.impossibleLength(at: plan.host)))
        }
        let version = Self.version(attributes, at: status.at)
        let modified = attributes.modified.map { Timestamp(seconds: $0) }
        if pauses < RemoteVersion.mostPauses,
            let pause = RemoteVersion.pause(of: attributes.size, modified, at: status.at)
        {
            pauses += 1
            state = .settling
            return [.perform(nextID(), .sftp(.close(handle))), .wake(.probeAgain, after: pause)]
        }
        var actions: [ProtocolAction] = []
        var point: GetResumePoint
        if let earlier = resume, earlier.offset > 0, earlier.version.isDateStrong, earlier.version.isSame(as: version),
            earlier.offset <= version.total ?? Int64.max
        {
            point = earlier
            point.received = nil
            actions.append(.resumed(at: point.offset))
        } else {
            if let begun = resume, begun.offset > 0 {
                let isChanged =
                    begun.version.total != version.total || begun.version.lastModified != version.lastModified
                if isChanged, plan.ifChanged == .fail { return refuseChange(begun) }
                accepted = 0
                let reason =
                    isChanged ? "changed at the server" : "the server gave nothing to recognise the version by"
                actions.append(.startOver(reason: reason, isOther: isChanged))
            }
            point = GetResumePoint(
                version: version, offset: 0, name: plan.name ?? resume?.name ?? OfferedName.choose(plan.path))
            if let resume { point.takePlace(of: resume) }
        }
        let id = nextID()
        state = .receiving(id, Flow(point: point, handle: handle, start: point.offset))
        // The version and both names are durable before the first byte is written.
        return actions + [
            .persist(ResumePoint(point)), .perform(id, .sftp(.read(handle, from: point.offset))),
            // Some files have bytes though their length is told as 0.
            .openGate(
                id, GateOpening(offset: point.offset, total: version.total, isBounded: version.total != 0)),
        ]
    }

    /// A server that tells no time has nothing to recognise a version by: then nothing goes on in the middle.
    private static func version(_ attributes: SFTPAttributes, at now: Timestamp) -> RemoteVersion {
        let modified = attributes.modified.map { Timestamp(seconds: $0) }
        return RemoteVersion(
            lastModified: attributes.modified.map { String($0) },
            isDateStrong: modified.map { RemoteVersion.unsettled($0, at: now) == nil } ?? false,
            total: attributes.size)
    }

    // MARK: The bytes

    private mutating func received(_ end: SFTPEnd, _ flow: Flow) -> [ProtocolAction] {
        if let broken = end.brokenOff { return over(broken) }
        if let (status, text) = end.refusal {
            return over(SFTPMeaning.action(status, text, .read, host: plan.host, hasAccepted: accepted > 0))
        }
        var flow = flow
        flow.point.offset = flow.start + end.bytesWritten
        let ids = [nextID(), nextID()]
        state = .proving(ids, flow, status: nil, close: nil)
        return [
            .perform(ids[0], .sftp(.handleStatus(flow.handle))), .perform(ids[1], .sftp(.close(flow.handle))),
        ]
    }

    private mutating func proved(_ status: SFTPEnd, _ flow: Flow, byPath: Bool = false) -> [ProtocolAction] {
        if let broken = status.brokenOff { return over(broken) }
        // Some servers ask by the path: it may have been written anew before it went away. All is kept for when it is back.
        if case (.noSuchFile, let text)? = status.refusal, plan.verify != VerificationWish.none {
            return [.persist(ResumePoint(flow.point))]
                + over(.fail(.wentAway(at: plan.host, .sourceMissing, aside: text)))
        }
        let known = flow.point.version
        if let (refusal, text) = status.refusal, plan.verify != VerificationWish.none {
            // Some servers tell nothing of an open file, and any may fail once. What they told before the first byte they tell again.
            if byPath {
                return over(SFTPMeaning.action(refusal, text, .read, host: plan.host, hasAccepted: accepted > 0))
            }
            let id = nextID()
            state = .provingByPath(id, flow)
            return [.perform(id, .sftp(.status(plan.path)))]
        }
        let length = flow.point.offset
        if plan.takesAsItComes, length >= known.total ?? 0 || hasAskedAgain { return finish(flow.point) }
        // Without a status nothing shows a change; the length still has to fit.
        let now = status.attributes.map { Self.version($0, at: status.at) } ?? known
        let isSame = now.total == known.total && (known.lastModified == nil || now.lastModified == known.lastModified)
        guard isSame else { return changedMeanwhile(flow.point) }
        guard let total = known.total, total != length else { return finish(flow.point) }
        if hasAskedAgain { return over(.fail(.lengthless(at: plan.host, total))) }
        hasAskedAgain = true
        return readAgain(flow.point, "the server sent another number of bytes than it told")
    }

    private mutating func changedMeanwhile(_ point: GetResumePoint) -> [ProtocolAction] {
        if plan.ifChanged == .fail { return refuseChange(point) }
        let reason = "changed at the server"
        if restarts == 2 {
            accepted = 0
            return [.startOver(reason: reason, isOther: true)]
                + over(.wait(WaitDemand(.backoff, .changesWhileRead(at: plan.host))))
        }
        restarts += 1
        return readAgain(point, reason, isOther: true)
    }

    private mutating func readAgain(
        _ point: GetResumePoint, _ reason: String, isOther: Bool = false
    ) -> [ProtocolAction] {
        accepted = 0
        resume = point
        resume?.offset = 0
        return [.startOver(reason: reason, isOther: isOther)] + ask()
    }

    private mutating func finish(_ point: GetResumePoint) -> [ProtocolAction] {
        let isSized = plan.verify != VerificationWish.none && point.version.total == point.offset
        let verified: Verification = plan.expects != nil ? .digest : isSized ? .size : .none
        return over(.finish(.received(point.offset, verified: verified, digest: plan.expects)))
    }

    // MARK: Words

    /// As `GetDownload.refuseChange`.
    private mutating func refuseChange(_ begun: GetResumePoint) -> [ProtocolAction] {
        accepted = 0
        return [.startOver(reason: "changed at the server", isOther: true), .persist(ResumePoint(begun.forgotten))]
            + over(.fail(.changedAtServer(plan.host)))
    }

    private mutating func nextID() -> ExchangeID {
        lastID += 1
        return ExchangeID(rawValue: lastID)
    }

    private mutating func over(_ action: ProtocolAction) -> [ProtocolAction] {
        state = .over
        return [action]
    }
}
