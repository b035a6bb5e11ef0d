import DisplayText
import MartletKit
import Terminal

/// The answer to a change that was asked for: the message, and the offer to take it back.
extension Model {
    mutating func acted(_ result: Result<NodesChanged, RequestError>, _ number: Int) {
        guard let request = requests.outstanding.removeValue(forKey: number) else { return }
        let changed: NodesChanged
        switch result {
        case .success(let all): changed = all
        case .failure(let error):
            changes.pending = changes.pending.filter { $0.value.number != number }
            forget(request, number, error)
            return complain(advised(error))
        }
        let results = changed.results
        let refused = Set(results.filter { $0.result == .refused }.map(\.id))
        let isUndone = results.allSatisfy { $0.result != .done }
        for (id, deed) in changes.pending where deed.number == number {
            changes.pending[id]?.isConfirmed = true
            // A place or a limit need not show in the row, and of what it shows already no other news comes: nothing more is waited for.
            let isShown = !deed.deed.showsInState || tree.row(id).map(deed.isShown) ?? false
            let isRefused = refused.contains(nodeID(of: deed.before))
            if isShown || isRefused || isUndone { changes.pending[id] = nil }
        }
        let done = results.count { $0.result == .done } + Int(changed.untold?.done ?? 0)
        let isMade = done > 0 || changed.limits != nil
        let refusal = refusal(in: changed, of: request.purpose, done: done)
        var takenBack: Outstanding.Purpose?
        if isMade {
            let nodes = changed.untold == nil ? results.filter { $0.result == .done }.map(\.id) : nil
            // The history keeps nothing of a login.
            let isLogin = if case .lettingIn = request.purpose { true } else { false }
            takenBack = changes.history.done(
                request, number, isLogin ? nil : changed.undo, changed: nodes, at: now.uptime)
        } else {
            changes.history.dropped(request, number, isRefused: refusal != nil)
            if let refusal { return complain(refusal) }
        }
        tellPage { $0.changeWasMade(in: &$1) }
        if refusal == nil, case .settledExisting(_, let then) = request.purpose {
            guard !isOvertaken(number) else { return complain(notTriedAgain) }
            changes.history.isJoining = isMade
            defer { changes.history.isJoining = false }
            return perform(then)
        }
        let price = price(of: request.purpose, results)
        let undo = offer(request, changed)
        // An answer that was long in coming: nothing counts down any more, but a cancel can be taken back all the same.
        let isCancel = if case .deed(.cancel, _) = request.purpose { true } else { false }
        let isLate = undo == nil && changed.undo != nil && isCancel
        let late: SafeText = isLate ? " \(key(.undo)) takes it back." : ""
        let rest = price + late + remainder(of: takenBack)
        var told = refusal ?? outcome(of: request.purpose, changed, done: Int64(done))
        if refusal != nil, !rest.string.isEmpty, !told.string.hasSuffix(".") { told = told + "." }
        say(told + rest, isError: refusal != nil, undo: undo, isLogged: done > 0 && refusal == nil)
        if case .named = request.purpose, filters.shown?.marksAll == true {
            filters.shown?.marksAll = false
            tree.unmarkAll()
        }
        // What is moved step by step stays marked for the next one.
        if case .deed(let deed, let rows) = request.purpose, !deed.isMove {
            let ids = Set(rows.filter { !refused.contains(nodeID(of: $0)) }.map(\.id))
            tree.unmark(ids.union(tree.marks.values.filter { isBelow($0, ids) }.map(\.id)))
        }
    }

    /// A request has failed as a whole; of a lost answer nobody knows.
    mutating func forget(_ request: Outstanding, _ number: Int, _ error: RequestError) {
        if error.code == .engineUnreachable {
            changes.history.lost(request, number)
        } else {
            changes.history.dropped(request, number, isRefused: true)
        }
    }

    /// The message about what was refused, and how much was done beside it; `nil`: nothing was refused. Of batches that clearing leaves
    /// where they are its own message tells.
    private func refusal(in changed: NodesChanged, of purpose: Outstanding.Purpose, done: Int) -> SafeText? {
        if case .clearFinished = purpose { return nil }
        let told = changed.results.filter { $0.result == .refused }
        let count = told.count + Int(changed.untold?.refused ?? 0)
        guard count > 0 else { return nil }
        let why = told.first.map { advised($0.advice ?? Advice($0.message ?? "\($0.id) was refused")) }
        guard done > 0 else { return (why ?? "All of it was refused") + (count > 1 ? " (and \(count - 1) more)" : "") }
        let head: SafeText = "\(Figures.count(Int64(done))) \(purpose.past), \(Figures.count(Int64(count))) refused"
        return head + (why.map { ": " + $0 } ?? ".")
    }

    /// A sentence on the things that an undo leaves as they are; empty: none.
    private func remainder(of takenBack: Outstanding.Purpose?) -> SafeText {
        switch takenBack {
        case .replaced(_, let new): " \(new), which took its place, is still queued, too."
        case .settledExisting(.replace, _): " What was overwritten meanwhile cannot be had back."
        default: ""
        }
    }

    private func outcome(of purpose: Outstanding.Purpose, _ changed: NodesChanged, done: Int64) -> SafeText {
        switch purpose {
        case .deed(.set(let settings, _), let rows) where done > 0:
            return said(settings, of: settings.isLimit ? limitTitle(.rows(rows)) : title(rows))
        case .deed(.move(let place), let rows) where done > 0: return "Moved \(title(rows)) \(place.words)."
        case .deed(.pauseUntil(let end), let rows) where done > 0: return "Paused \(title(rows)) until \(moment(end))."
        case .deed(.runNow, let rows) where done > 0: return "\(title(rows)) starts now."
        case .deed(.move, let rows): return "\(title(rows)) stands there already."
        case .deed(.set, let rows): return "\(title(rows)) was so already."
        case .deed(.runNow, let rows): return "\(title(rows)) runs already."
        case .deed(let deed, let rows) where done > 0:
            // What the engine has counted is newer than the rows.
            let counted = changed.results.compactMap(\.files)
            let files = counted.isEmpty ? self.files(rows, deed) : ByteSum.of(counted)
            return "\(deed.past) \(title(rows)) (\(Figures.amount(files, "file")))."
        case .deed(.pause, let rows), .deed(.pauseUntil, let rows): return "\(title(rows)) was paused already."
        case .deed(.resume, let rows): return "\(title(rows)) was not paused."
        case .deed(.cancel, let rows): return "\(title(rows)) was over already."
        case .deed(.retry, let rows): return "\(title(rows)) has nothing to try again."
        case .deed(.purge, let rows): return "\(title(rows)) has nothing to leave out."
        case .named(.set(let settings, _), let what) where done > 0 && settings.isLimit:
            return said(settings, of: what)
        case .named(.pauseUntil(let end), let what) where done > 0:
            return "Paused until \(moment(end)): \(what) (\(Figures.count(done)) changed)."
        case .named(let deed, let what):
            return done > 0 ? "\(deed.past): \(what) (\(Figures.count(done)) changed)." : "There was nothing to do."
        case .everything(let deed): return done > 0 ? "\(deed.past) everything." : "There was nothing to do."
        case .clearFinished:
            return cleared(done, staying: changed.results.count { $0.result == .refused })
        case .undo(let name):
            if let limits = changed.limits { return SafeText("Took the limits back: \(sentence(limits)).") }
            if changed.undone == .purge || changed.undone == .clear, done > 0 {
                return "The list has \(Figures.amount(done, "finished batch", "finished batches")) again."
            }
            if changed.startsAgain, done > 0 {
                let what = name ?? SafeText(Figures.amount(done, "row"))
                return "Queued again: \(what). It starts again from 0: what had arrived in part is gone."
            }
            let paused = changed.results.filter { $0.pausedAgain == true }
            // One end for some of them is none for the others.
            if let result = paused.first, paused.count == changed.results.count,
                paused.allSatisfy({ $0.pausedUntil == result.pausedUntil })
            {
                let paused = name.map { "\($0) is paused" } ?? "Paused"
                return result.pausedUntil.map { "\(paused) until \(moment($0)) again." }
                    ?? "\(paused) again, until somebody resumes it."
            }
            let what = SafeText(changed.undone?.noun ?? "change")
            let only = changed.results.count == 1 ? changed.results.first.map { SafeText("\($0.id)") } : nil
            return done > 0
                ? "Took back the \(what)\((name ?? only).map { " of \($0)" } ?? "")."
                : "There is nothing of yours to take back; :undo list tells what else can be."
        case .replaced(let old, let new):
            return done > 0
                ? "\(new) is queued in the place of \(old), which is cancelled."
                : "\(new) is queued; \(old) was over already."
        case .failed(let name):
            return done > 0 ? "Trying the failed files of \(name) again." : "Nothing of \(name) has failed any more."
        case .lettingIn(let name):
            return done > 0 ? "\(name) goes on with what you typed." : "\(name) has that login already."
        case .askedServer(let what):
            return done > 0
                ? "Asking \(what)." : "Nothing waits for its next try: what is left is tried already, or paused."
        // A question, or a change of which something else is said.
        default:
            return ""
        }
    }

    /// The message after clearing. Batches with failures stay where they can be seen, and go on by these keys.
    private func cleared(_ done: Int64, staying: Int) -> SafeText {
        guard done + Int64(staying) > 0 else { return "No batch is finished: there was nothing to clear." }
        let cleared: SafeText =
            done > 0
            ? "Cleared \(Figures.amount(done, "finished batch", "finished batches")) from the list."
            : "Nothing was cleared."
        if staying == 0 { return cleared }
        let (verb, them) = staying == 1 ? ("stays", "it") : ("stay", "them")
        return cleared
            + " \(staying) with failures \(verb): \(key(.retry)) retries \(them), \(key(.cancel)) leaves \(them) out."
    }

    /// A sentence on the bytes sent in vain, and why; empty: none.
    private func price(of purpose: Outstanding.Purpose, _ results: [NodeResult]) -> SafeText {
        let bytes = ByteSum.of(results.lazy.compactMap(\.bytesToRepeat))
        let cost = StoppingCost(purpose.stops ?? .pause, bytes: bytes)
        return cost.map { " " + said($0) } ?? ""
    }

    private func files(_ rows: [NodeRow], _ deed: NodeDeed) -> Int64 {
        ByteSum.of(
            rows.lazy.map { row in
                deed == .retry
                    ? row.counts.triable
                    : row.counts.unstarted + row.counts.active
            })
    }

    /// A change can be undone from the moment it was asked for; the engine's clock began a little later. Of pauses it is
    /// not said: the same key takes them back.
    private func offer(_ request: Outstanding, _ changed: NodesChanged) -> Notice.Undo? {
        let until = request.sentAt + connection.grace
        guard let name = undoName(of: request.purpose), let choice = changed.undo, until > now.uptime else {
            return nil
        }
        return Notice.Undo(choice: choice, name: name, until: until)
    }

    /// The name of a change in the offer to undo it; `nil`: none is made.
    func undoName(of purpose: Outstanding.Purpose) -> SafeText? {
        switch purpose {
        case .deed(.pause, _), .deed(.resume, _), .deed(.retry, _): nil
        case .deed(_, let rows): title(rows)
        case .clearFinished: "the list"
        case .replaced(let old, _): SafeText("\(old)")
        default: nil
        }
    }
}

extension Outstanding.Purpose {
    /// The word behind the number of nodes to which it was done.
    fileprivate var past: String {
        switch self {
        case .deed(let deed, _), .everything(let deed), .named(let deed, _): deed.past.lowercased()
        case .failed: NodeDeed.retry.past.lowercased()
        case .askedServer: "asked"
        case .undo: "taken back"
        case .replaced: NodeDeed.cancel.past.lowercased()
        default: "changed"
        }
    }
}

extension NodeDeed {
    /// The word in front of what it is to be done to.
    var verb: String {
        switch self {
        case .pause, .pauseUntil: "Pause"
        case .resume: "Resume"
        case .cancel: "Cancel"
        case .retry: "Retry"
        case .move, .set, .runNow: "Change"
        case .purge: "Leave out"
        }
    }

    /// The key that answers yes to it.
    var letter: Unicode.Scalar {
        switch self {
        case .pause, .pauseUntil, .resume: "p"
        case .cancel, .purge: "x"
        case .retry: "r"
        case .move, .set, .runNow: "y"
        }
    }

    /// The word in front of what it was done to.
    var past: String {
        switch self {
        case .pause, .pauseUntil: "Paused"
        case .resume: "Resumed"
        case .cancel: "Cancelled"
        case .retry: "Trying again"
        case .move: "Moved"
        case .set: "Changed"
        case .runNow: "Starting"
        case .purge: "Left out"
        }
    }

    /// The row looks different when it is done.
    var showsInState: Bool {
        switch self {
        case .pause, .pauseUntil, .resume, .cancel, .retry: true
        case .move, .set, .runNow, .purge: false
        }
    }

    var isMove: Bool { if case .move = self { true } else { false } }
}

extension MovePlace {
    /// The place that something was moved to.
    fileprivate var words: SafeText {
        switch self {
        case .top: "to the top"
        case .bottom: "to the bottom"
        case .earlier: "one earlier"
        case .later: "one later"
        case .before(let node): SafeText("before \(node)")
        }
    }
}
