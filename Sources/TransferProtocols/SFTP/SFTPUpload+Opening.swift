import TransferModel
import WireOperations

/// Until the temporary file is open, at the byte where it goes on.
extension SFTPUpload {
    mutating func looked(_ group: Group, hasRestored: Bool) -> [ProtocolAction] {
        hasAskedTarget = true
        if !hasRestored, let actions = restore(group) { return actions }
        let there = group[1]?.attributes
        if let target = group[0]?.attributes {
            let isOldThere = group.ids.count > 2 ? group[2]?.attributes != nil : there != nil
            let look = TargetLook(temporaryIsThere: there != nil, oldIsThere: isOldThere, isFirst: plan.resume == nil)
            switch verdict(target, look) {
            case .goOn: break
            case .readBack: return perform(.openingBack, [.openForReading(plan.path)])
            case .end(let action): return leave(isThere: there != nil, then: action)
            }
        }
        if point.isComplete == true, !isDirect, let there, there.size == plan.subject.size {
            // Its name alone was refused: a server that empties what is opened must not get at it.
            seen = SFTPAttributes(size: there.size)
            return (plan.subject.size > 0 ? [.resumed(at: plan.subject.size)] : []) + stored()
        }
        if isDirect { takeName(group) }
        beginning = .goesOn(from: there?.size)
        var first: [SFTPOperation] = []
        var old: RawPath?
        var disclaimed: [ProtocolAction] = []
        if group[1]?.refusal?.status == .noSuchFile {
            if point.publishing, case .fail(let error)? = point.vanish(at: plan.host) {
                return forgetRename() + over(.fail(error))
            }
            // Another one is begun: of that nothing was asked yet, and no old file was removed for it.
            let before = point
            (point.removesOld, point.isComplete) = (nil, nil)
            disclaimed = disclaim()
            if disclaimed.isEmpty, point != before { disclaimed = [.persist(durable)] }
        }
        if plan.subject.hasChanged {
            // The old version's bytes.
            let earlier = plan.resume?.temporary ?? unrecorded
            if earlier != plan.path, earlier != point.temporary {
                // Whose rename it was is decided: from here on the old name's absence proves nothing.
                if let resume = plan.resume, resume.publishing || own.isKnown {
                    disclaimed.append(.persist(ResumePoint.outdated(resume).disclaimed.owning(own.version)))
                    isDurable = false
                } else if own.isKnown {
                    disclaimed += makeDurable()
                }
                old = earlier
            }
        }
        if isDirect, plan.resume != nil || plan.subject.begunBefore != nil {
            // From before it was known that the server cannot rename.
            let name = TemporaryName.beside(plan.path, token: plan.subject.token, generation: point.generation)
            first.append(.remove(name))
        }
        if facts.cannotResume == true, there != nil, !isDirect {
            beginning.beginAnew()
            disclaimed += disclaim()
            first.append(.remove(point.temporary))
        }
        return disclaimed + (old.map { clear($0, then: first) } ?? open(asksTarget: false, first: first))
    }

    /// Takes away what earlier attempts have gathered, also of an earlier version of the source, or before the server was known not to
    /// rename: after the end nothing tells of it any more. After a failure the stored point does.
    private mutating func leave(isThere: Bool, then action: ProtocolAction) -> [ProtocolAction] {
        var earlier: [SFTPOperation] = []
        if case .finish = action, let old = plan.resume?.temporary, old != plan.path, old != point.temporary {
            earlier.append(.remove(old))
        }
        return isThere || !earlier.isEmpty ? tidy(earlier, then: action) : over(action)
    }

    /// The old file was removed for an earlier version of the source, and neither is there: what was gathered gets the name before anything
    /// else, for it is all that is left. `nil`: that is not so. As `SFTPRemoval`.
    private mutating func restore(_ group: Group) -> [ProtocolAction]? {
        guard plan.subject.hasChanged, let resume = plan.resume, resume.removesOld == true,
            resume.temporary != plan.path, group.ids.count > 2,
            // A part of it is no copy of anything.
            group[2]?.attributes?.size == resume.size,
            let (status, text) = group[0]?.refusal
        else { return nil }
        guard status == .noSuchFile else {
            return over(SFTPMeaning.action(status, text, .rename, host: plan.host, hasAccepted: hasAccepted))
        }
        return perform(.restoring, [.rename(resume.temporary, to: plan.path, replaces: false)])
    }

    mutating func restored(_ group: Group) -> [ProtocolAction] {
        guard let (status, text) = group.last?.refusal, status != .noSuchFile else {
            return look(hasRestored: true)
        }
        return over(SFTPMeaning.action(status, text, .rename, host: plan.host, hasAccepted: true))
    }

    /// Notes why what is under the final name is ours from now on: the look decided that it is, or nothing is there.
    private mutating func takeName(_ group: Group) {
        let old = point
        // A point of an older engine does not tell how much was sent.
        if point.owned != .written || point.longest != nil {
            point.longest = max(point.longest ?? point.owned?.most ?? 0, plan.subject.size)
        }
        if group[0]?.attributes != nil {
            if plan.subject.ifExists != .replace { point.owned = .written }
        } else if group[0]?.refusal?.status == .noSuchFile {
            isFree = true
            point.owned = .free(upTo: plan.subject.size)
        }
        if point != old { isDurable = false }
    }

    mutating func opened(_ group: Group, asksTarget: Bool) -> [ProtocolAction] {
        guard let end = group.last else { return [] }
        let target = asksTarget ? group[group.ids.count - 2]?.attributes : nil
        if let target, case .end(let action) = verdict(target, TargetLook(isFirst: true)) {
            if case .opened(let handle)? = end.reply { return tidy([.close(handle)], then: action) }
            return over(action)
        }
        guard case .opened(let handle)? = end.reply else {
            guard let (status, text) = end.refusal else { return over(SFTPMeaning.odd(host: plan.host)) }
            return openRefused(status, text)
        }
        isFree = false
        // Of a new file nothing can be there. Under the final name a longer one may be.
        if beginning.start != nil || isDirect {
            return perform(.measuring(handle, had: beginning.start), [.handleStatus(handle)])
        }
        return send(handle, from: 0, has: 0)
    }

    private mutating func openRefused(_ status: SFTPStatus, _ text: String) -> [ProtocolAction] {
        if status == .noSuchFile, !hasMadeFolder {
            hasMadeFolder = true
            return perform(.makingFolder, [.makeFolders(point.temporary.folder)])
        }
        if status == .failure || status == .unsupported, beginning.start != nil, !isDirect {
            return goOnWhole("the server does not let an upload go on")
        }
        return over(SFTPMeaning.action(status, text, .open, host: plan.host, hasAccepted: hasAccepted))
    }

    mutating func madeFolder(_ group: Group) -> [ProtocolAction] {
        if let (status, text) = group.last?.refusal {
            if status == .failure {
                return over(
                    .fail(
                        TransferError(
                            .destinationUnwritable, "\(plan.host) cannot make the folder (\(text))",
                            .step("look there, or choose another"))))
            }
            return over(SFTPMeaning.action(status, text, .makeFolder, host: plan.host, hasAccepted: hasAccepted))
        }
        return open(asksTarget: false)
    }

    /// The server's size decides where to go on; it was asked after opening, because some servers empty what is opened.
    mutating func measured(_ handle: SFTPHandle, had: Int64?, _ group: Group) -> [ProtocolAction] {
        let size = group.last?.attributes?.size ?? 0
        var actions: [ProtocolAction] = []
        var start: Int64 = 0
        if plan.resume != nil, !plan.subject.hasChanged, !beginning.isWhole, !isDirect {
            if let had, size < had {
                facts.cannotResume = true
                beginning.beginAnew()
                isDurable = false
                actions += [
                    learned { $0.cannotResume = true }, startOver("the server empties a file on opening"),
                ]
            } else {
                start = firstUnproven(of: size)
            }
        }
        if size > plan.subject.size { actions.append(.perform(nextID(), .sftp(.setSize(handle, plan.subject.size)))) }
        if start > 0 { actions.append(.resumed(at: start)) }
        return actions + send(handle, from: start, has: size)
    }

    /// The offset to go on at. Of writes that were under way when the line was cut the server may have refused one, its disk being full for a
    /// moment, and taken those behind it: the temporary file has a hole then, and its size does not tell. So its size proves only what is
    /// further back than all that can have been under way; what was confirmed needs no other proof while the file holds as much.
    private func firstUnproven(of size: Int64) -> Int64 {
        let proven = max(0, min(size, plan.subject.size) - (plan.resume?.reach ?? Self.mostReach))
        let isPrefix = features.isOpenSSH && confirmed <= size
        return isPrefix ? max(proven, min(confirmed, plan.subject.size)) : proven
    }
}
