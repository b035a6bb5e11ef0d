import TransferModel
import WireOperations

/// A download over FTP. The synced local file is the truth: an attempt goes on where that ends, by REST, when
/// size and MDTM show the same version. Both are asked before, told again by the transfer itself, and asked once more after it.
package struct FTPDownload: ProtocolMachine {
    private enum State {
        /// Next: `asking`, `over` (all was there already).
        case ready
        /// MDTM and SIZE. Next: `settling`, `askingDigest`, `receiving`, `over`.
        case asking(ExchangeID)
        /// It was written to a moment ago: its time tells another version apart in a moment. Next: `asking`.
        case settling
        /// The server's digest of the file, because no person gave one: by `XSHA256`, then by `HASH`. Next: itself, `receiving`, `over`.
        case askingDigest(ExchangeID, RemoteVersion, byHash: Bool)
        /// The bytes flow into the file. Next: `proving`, itself from zero, `over`.
        case receiving(ExchangeID, Flow)
        /// MDTM and SIZE once more: two versions are never mixed. Next: `over`.
        case proving(ExchangeID, GetResumePoint)
        /// `finish`, `fail` or `wait` was said. Late events are left alone.
        case over
    }

    private struct Flow: Hashable {
        var point: GetResumePoint
        /// The file's offset when the gate was opened.
        var start: Int64
        /// As of `FTPOperation.download`.
        var isBounded: Bool
    }

    private let plan: FTPDownloadPlan
    private var state = State.ready
    private var lastID = 0
    private var accepted: Int64
    /// Times that a file was waited for that had just been written to; one that is written to all the time is taken as it is.
    private var pauses = 0
    /// Digest that the local file must have.
    private var digest: TransferDigest?
    /// The server sent bytes of a file whose length it tells as 0, and was asked once more.
    private var hasAskedAgain = false
    /// When the server told the version that is received.
    private var versionSeen = Timestamp(milliseconds: 0)

    package init(_ plan: FTPDownloadPlan) {
        self.plan = plan
        accepted = plan.resume?.offset ?? 0
        digest = plan.expects
    }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        switch (state, event) {
        case (.ready, .began):
            if let receipt = plan.resume?.receipt(verify: plan.verify, expects: plan.expects) {
                return over(.finish(receipt))
            }
            return perform(.ftp(.size(plan.path))) { .asking($0) }
        case (.settling, .timerFired(.probeAgain)): return perform(.ftp(.size(plan.path))) { .asking($0) }
        case (.asking(let id), .ftpEnded(let ended, let end)) where ended == id: return asked(end)
        case (.askingDigest(let id, let version, let byHash), .ftpEnded(let ended, let end)) where ended == id:
            return told(end, version, byHash: byHash)
        case (.receiving(let id, let flow), .synced(let offset)): return synced(offset, id, flow)
        case (.receiving(let id, let flow), .ftpEnded(let ended, let end)) where ended == id: return received(end, flow)
        // As in `GetDownload`.
        case (.proving(_, let point), .synced(let offset)): return [.persist(point.synced(through: offset))]
        case (.proving(let id, let point), .ftpEnded(let ended, let end)) where ended == id: return proved(end, point)
        default:
            // What belongs to an abandoned or finished exchange comes too late.
            return []
        }
    }

    // MARK: Which version

    private mutating func asked(_ end: FTPEnd) -> [ProtocolAction] {
        // A server without SIZE can still send the file; one without the file cannot.
        guard end.isDone || end.isUnknownCommand else {
            if end.isMissing {
                return over(
                    .fail(
                        TransferError(
                            .http, "\(plan.host) answered \(end.reply), there is no such file",
                            .step("check the address"))))
            }
            return stop(end)
        }
        if let size = end.size, !FileSize.isPossible(size) { return over(.fail(.impossibleLength(at: plan.host))) }
        if pauses < RemoteVersion.mostPauses, let pause = RemoteVersion.pause(of: end.size, end.modified, at: end.at) {
            pauses += 1
            state = .settling
            return [.wake(.probeAgain, after: pause)]
        }
        let version = Self.version(end)
        versionSeen = end.at
        guard plan.asksDigest else { return begin(version) }
        // An earlier attempt was told that of the same version.
        if let point = plan.resume, point.offset > 0, let known = point.promised, point.version.isSame(as: version) {
            digest = known
            return begin(version)
        }
        return perform(FTPMessages.askDigest(plan.path)) { .askingDigest($0, version, byHash: false) }
    }

    private mutating func told(_ end: FTPEnd, _ version: RemoteVersion, byHash: Bool) -> [ProtocolAction] {
        if end.isDone, let theirs = FTPMessages.digest(in: end.text) {
            digest = theirs
            return begin(version)
        }
        if end.isUnknownCommand, !byHash {
            return perform(FTPMessages.askHash(plan.path)) { .askingDigest($0, version, byHash: true) }
        }
        if plan.verify == .digest {
            let isBroken = !end.isDone && end.reply < 500
            return isBroken ? stop(end) : over(.fail(.unverifiable(at: plan.host, "tells no SHA-256 of the file")))
        }
        // Nobody has insisted. A server that has no digest, or that the question takes too long, is not asked for another file.
        guard end.isDone || end.isUnknownCommand || end.isTimedOut else { return begin(version) }
        return [.learned(HostFacts { $0.tellsDigests = false })] + begin(version)
    }

    private static func version(_ end: FTPEnd) -> RemoteVersion {
        var version = RemoteVersion(total: end.size)
        guard let modified = end.modified else { return version }
        version.lastModified = FTPTime.text(modified)
        version.isDateStrong = RemoteVersion.unsettled(modified, at: end.at) == nil
        return version
    }

    private mutating func begin(_ version: RemoteVersion) -> [ProtocolAction] {
        guard let point = plan.resume, point.offset > 0 else { return receive(version, from: 0) }
        guard plan.facts.cannotResume != true else {
            return startOver("the server sends whole files only") + receive(version, from: 0)
        }
        guard version.total != nil, version.isResumable, point.version.isResumable else {
            return startOver("the server gave nothing to recognise the version by") + receive(version, from: 0)
        }
        guard point.version.isSame(as: version), let total = version.total, point.offset <= total else {
            return refuseChange() ?? startOver("changed at the server", isOther: true) + receive(version, from: 0)
        }
        if point.offset == total { return finish(point) }
        return [.resumed(at: point.offset)] + receive(version, from: point.offset)
    }

    // MARK: Receiving

    /// The version and the name are durable before the first byte is written.
    private mutating func receive(_ version: RemoteVersion, from offset: Int64) -> [ProtocolAction] {
        var point: GetResumePoint
        if let earlier = plan.resume, offset > 0 {
            point = earlier
            point.received = nil
        } else {
            point = GetResumePoint(
                version: version, offset: 0, name: plan.name ?? plan.resume?.name ?? OfferedName.choose(plan.path))
            if let earlier = plan.resume { point.takePlace(of: earlier) }
        }
        point.promised = digest
        return receive(point)
    }

    private mutating func receive(_ point: GetResumePoint) -> [ProtocolAction] {
        let (offset, total) = (point.offset, point.version.total)
        // Some files have bytes though their length is told as 0.
        let isBounded = (total ?? 0) > 0 && !plan.takesAsItComes
        let opening = GateOpening(offset: offset, total: total, isBounded: total == nil || isBounded)
        let begun = perform(.ftp(.download(plan.path, from: offset, isBounded: isBounded))) {
            .receiving($0, Flow(point: point, start: offset, isBounded: isBounded))
        }
        return [.persist(ResumePoint(point))] + begun + [.openGate(ExchangeID(rawValue: lastID), opening)]
    }

    private mutating func synced(_ offset: Int64, _ id: ExchangeID, _ flow: Flow) -> [ProtocolAction] {
        var flow = flow
        flow.point.offset = offset
        accepted = offset
        state = .receiving(id, flow)
        return [.persist(ResumePoint(flow.point))]
    }

    private mutating func received(_ end: FTPEnd, _ flow: Flow) -> [ProtocolAction] {
        if !end.isDone {
            if flow.start > 0, end.command == "REST", end.reply >= 500 {
                return [.learned(HostFacts { $0.cannotResume = true })] + startOver("the server sends whole files only")
                    + receive(flow.point.version, from: 0)
            }
            return stop(end)
        }
        let length = flow.start + end.bytesWritten
        var point = flow.point
        point.offset = length
        // The transfer itself was told of the file, too, before its first byte.
        if flow.isBounded, let told = end.size, told != point.version.total { return changedMeanwhile() }
        if let told = told(flow, end), length != told, !plan.takesAsItComes || length < told {
            return odd(length, of: told, flow)
        }
        let isOneReading = RemoteVersion.isOneReading(
            from: flow.start, through: length, end.at.since(versionSeen))
        if !isOneReading, point.version.lastModified != nil, !plan.takesAsItComes {
            return perform(.ftp(.size(plan.path))) { .proving($0, point) }
        }
        return finish(point)
    }

    /// The file's length; `nil`: nobody has said one. Some servers say 0 to `SIZE`, or nothing, and more when they begin.
    private func told(_ flow: Flow, _ end: FTPEnd) -> Int64? {
        guard !flow.isBounded, flow.start == 0, let announced = end.size else { return flow.point.version.total }
        return max(announced, flow.point.version.total ?? 0)
    }

    /// The server says that this was all, and told another length right before.
    private mutating func odd(_ length: Int64, of total: Int64, _ flow: Flow) -> [ProtocolAction] {
        if length < total {
            return over(
                .wait(
                    WaitDemand(
                        .backoff,
                        TransferError(
                            .networkConnectionLost, "\(plan.host) sent \(length) of \(total) bytes", .again))))
        }
        if hasAskedAgain { return over(.fail(.lengthless(at: plan.host, total))) }
        hasAskedAgain = true
        var point = flow.point
        point.offset = 0
        return startOver("the server sent another number of bytes than it told") + receive(point)
    }

    private mutating func changedMeanwhile() -> [ProtocolAction] {
        if let refusal = refuseChange() { return refusal }
        return startOver("changed at the server", isOther: true)
            + over(.wait(WaitDemand(.backoff, .changesWhileRead(at: plan.host))))
    }

    private mutating func proved(_ end: FTPEnd, _ point: GetResumePoint) -> [ProtocolAction] {
        guard end.isDone else {
            guard end.isMissing else { return stop(end) }
            // A server that does not want to say must not stop a download.
            if end.isForbidden { return finish(point) }
            // It may have been written anew before it went away. All is kept for when it is back.
            return [.persist(ResumePoint(point))] + over(.fail(.wentAway(at: plan.host, aside: end.text)))
        }
        let now = Self.version(end)
        guard now.total == point.version.total, now.lastModified == point.version.lastModified else {
            return changedMeanwhile()
        }
        return finish(point)
    }

    private mutating func finish(_ point: GetResumePoint) -> [ProtocolAction] {
        let isSized = plan.verify != VerificationWish.none && point.version.total == point.offset
        let verified: Verification = digest != nil ? .digest : isSized ? .size : .none
        return over(.finish(.received(point.offset, verified: verified, digest: digest)))
    }

    // MARK: Words

    /// As `GetDownload.refuseChange`.
    private mutating func refuseChange() -> [ProtocolAction]? {
        guard plan.ifChanged == .fail else { return nil }
        var actions = startOver("changed at the server", isOther: true)
        if let begun = plan.resume { actions.append(.persist(ResumePoint(begun.forgotten))) }
        return actions + over(.fail(.changedAtServer(plan.host)))
    }

    private mutating func startOver(_ reason: String, isOther: Bool = false) -> [ProtocolAction] {
        accepted = 0
        return [.startOver(reason: reason, isOther: isOther)]
    }

    private mutating func perform(_ exchange: Exchange, _ next: (ExchangeID) -> State) -> [ProtocolAction] {
        lastID += 1
        let id = ExchangeID(rawValue: lastID)
        state = next(id)
        return [.perform(id, exchange)]
    }

    private mutating func stop(_ end: FTPEnd) -> [ProtocolAction] {
        over(FTPMeaning(end, host: plan.host, hasAccepted: accepted > 0).action)
    }

    private mutating func over(_ action: ProtocolAction) -> [ProtocolAction] {
        state = .over
        return [action]
    }
}
