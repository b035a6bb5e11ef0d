import TransferModel
import WireOperations

/// Until the temporary file is open, at the byte where it goes on.
extension SFTPUpload {
    mutating func looked(_ group: Group) -> [ProtocolAction] {
        hasAskedTarget = true
        let there = group[1]?.attributes
        if let target = group[0]?.attributes {
            let isOldThere = group.ids.count > 2 ? group[2]?.attributes != nil : there != nil
            let look = TargetLook(temporaryIsThere: there != nil, oldIsThere: isOldThere, isFirst: plan.resume == nil)
            switch verdict(target, look) {
            case .goOn: break
            case .readBack: return perform(.openingBack, [.openForReading(plan.path)])
            // What an earlier attempt has gathered serves nothing any more.
            case .end(let action): return there != nil ? tidy([], then: action) : over(action)
            }
        }
        if point.isComplete == true, !isDirect, let there, there.size == plan.subject.size {
            // Its name alone was refused: a server that empties what is opened must not get at it.
            return (plan.subject.size > 0 ? [.resumed(at: plan.subject.size)] : []) + stored(isMeasured: true)
        }
        if isDirect { own(group) }
        had = there?.size
        var first: [SFTPOperation] = []
        // Another one is begun: of that nothing was asked yet.
        var disclaimed = group[1]?.refusal?.status == .noSuchFile ? disclaim() : []
        if plan.subject.hasChanged {
            // The old version's bytes. Whether it works decides nothing.
            let old = plan.resume?.temporary ?? TemporaryName.beside(plan.path, token: plan.subject.token)
            if old != plan.path, old != point.temporary {
                // Whose rename it was is decided: from here on the old name's absence proves nothing.
                if plan.resume?.publishing == true { disclaimed += makeDurable() }
                first.append(.remove(old))
            }
        }
        if isDirect, plan.resume != nil || plan.subject.begunBefore != nil {
            // From before it was known that the server cannot rename.
            let name = TemporaryName.beside(plan.path, token: plan.subject.token, generation: point.generation)
            first.append(.remove(name))
        }
        if facts.cannotResume == true, there != nil, !isDirect {
            isWhole = true
            had = nil
            disclaimed += disclaim()
            first.append(.remove(point.temporary))
        }
        return disclaimed + open(asksTarget: false, first: first)
    }

    /// Notes why what is under the final name is ours from now on: the look decided that it is, or nothing is there.
    private mutating func own(_ group: Group) {
        let old = point.owned
        if group[0]?.attributes != nil {
            if plan.subject.ifExists != .replace { point.owned = .written }
        } else if group[0]?.refusal?.status == .noSuchFile {
            isFree = true
            point.owned = .free(upTo: plan.subject.size)
        }
        if point.owned != old { isDurable = false }
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
        if had != nil || isDirect { return perform(.measuring(handle, had: had), [.handleStatus(handle)]) }
        return send(handle, from: 0, has: 0)
    }

    private mutating func openRefused(_ status: SFTPStatus, _ text: String) -> [ProtocolAction] {
        if status == .noSuchFile, !hasMadeFolder {
            hasMadeFolder = true
            return perform(.makingFolder, [.makeFolders(point.temporary.folder)])
        }
        if status == .failure || status == .unsupported, had != nil, !isWhole, !isDirect {
            return goOnWhole("the server does not let an upload go on")
        }
        return over(SFTPMeaning.action(status, text, .open, host: plan.host, hasAccepted: hasAccepted))
    }

    mutating func madeFolder(_ group: Group) -> [ProtocolAction] {
        if let (status, text) = group.last?.refusal {
            if status == .failure {
                let message = "\(plan.host) cannot make the folder (\(text)): look there, or choose another"
                return over(.fail(TransferError(.destinationUnwritable, message)))
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
        if plan.resume != nil, !plan.subject.hasChanged, !isWhole, !isDirect {
            if let had, size < had {
                facts.cannotResume = true
                isWhole = true
                isDurable = false
                actions += [
                    learned { $0.cannotResume = true }, .startOver(reason: "the server empties a file on opening"),
                ]
            } else {
                start = min(size, plan.subject.size)
                if !features.writesInOrder { start = max(0, start - Self.window) }
            }
        }
        if size > plan.subject.size { actions.append(.perform(nextID(), .sftp(.setSize(handle, plan.subject.size)))) }
        if start > 0 { actions.append(.resumed(at: start)) }
        return actions + send(handle, from: start, has: size)
    }
}
