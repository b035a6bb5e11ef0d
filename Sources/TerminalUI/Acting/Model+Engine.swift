import DisplayText
import MartletKit

/// The engine's news, and the answers to requests.
extension Model {
    mutating func take(_ news: ViewUpdate) {
        connection.lastNews = now.wall
        noteForeignChanges(news)
        var update = news
        list.frozen?.hold(&update, tree)
        let updated = Set(update.sections.flatMap { $0.rows.map(\.id) })
        changes.pending = changes.pending.filter { !($0.value.isConfirmed && updated.contains($0.key)) }
        if let totals = update.totals {
            let before = self.totals
            self.totals = totals
            throughput.seen.add(totals.bytesPerSecondUp + totals.bytesPerSecondDown, at: now.uptime)
            tellPage { $0.totalsCame(after: before, in: &$1) }
        }
        if update.filter == nil, let root = update.sections.first(where: { $0.parent == nil && $0.flat != true }) {
            noteEnds(of: root.rows)
        }
        if !update.sections.isEmpty || update.filter != nil {
            tree.keepsPlaces = list.steadyUntil != nil
            take(update.sections, of: update.filter)
            observed.take(
                update.sections.flatMap(\.rows), inSight: Set(tree.items.compactMap(\.row?.id)), at: now.uptime,
                keepsTrails: appearance.columns?.contains("sparkline") == true)
            if tree.going == .problem { seekProblem(fromStart: true) }
            keepFollowing()
        }
        tellPage { $0.rowsCame(update, in: &$1) }
        refreshWhy(update)
    }

    mutating func take(_ state: ConnectionState) {
        switch state {
        case .idle:
            if isConnected { connection.state = .connecting }
        case .connecting:
            if case .lost(let since, _, let loss) = connection.state {
                connection.state = .lost(since: since, nextTry: nil, loss)
            }
        case .connected(let identity):
            let before = connection.state
            connection.state = .connected(identity)
            connection.restarts.found(at: now.uptime)
            (connection.clockAhead, connection.grace) = (identity.clockAhead, identity.grace ?? connection.grace)
            if case .lost(_, _, let loss) = before { sayFound(loss) }
            recentLog.isRefused = false
            askWhatHappened()
            finishedToday = nil
            // The picture below the list begins with what was before this screen came.
            if !layout.lower.isEmpty { askForThroughput(isPatient: true) }
            if appearance.hasClock { ask(.status, isPatient: true) { .status(number: $0) } }
            if machine == nil {
                requests.append(.local(.lookAtLogout(engine: identity.pid)))
                requests.append(.local(.places))
            }
            tellPage { $0.connected(in: &$1) }
        case .lost(let since, let nextTry, let loss):
            sayLost(loss)
            connection.state = .lost(since: since, nextTry: nextTry, loss)
            changes.pending = [:]
            observed.stalled = StalledRows()
        }
    }

    mutating func take(_ answer: RequestResult) {
        switch answer {
        case .acted(let result, let number): acted(result, number)
        case .undoable(let result, let number): undoableCame(result, number)
        case .limits(let result, let session, let number): limitsCame(result, session, number)
        case .limitsSet(let result, let number): limitsSet(result, number)
        case .why(let result, let number): explained(result, number)
        case .verified(let news, let number): verified(news, number)
        case .found(let result, let number): found(result, number)
        case .status(let result, let number): statusCame(result, number)
        case .batches(let result, let number): batchesCame(result, number)
        case .page(let answer, let number): answered(answer, number)
        case .ordered(let result, let number): ordered(result, number)
        case .queued(let result, let number): queued(result, number)
        case .notConnected(let error):
            if !isConnected {
                connection.state = if case .lost = connection.state { connection.state } else { .failed(error) }
                couldNotStart(error)
            }
        case .copied(let copied, let file): say(copied.notice(file.map { appearance.safe($0) }))
        case .written(let file): say("Written into \(appearance.safe(file)).")
        case .notSaved(let why): complain(appearance.safe(why))
        case .cannotSuspend: complain("Nobody could continue this program if it stopped: it goes on.")
        }
    }

    /// All batches, for a page that is still open or for somebody else.
    private mutating func batchesCame(_ result: Result<[BatchSnapshot], RequestError>, _ number: Int) {
        switch requests.outstanding.removeValue(forKey: number)?.purpose {
        case .batches(let view):
            tellPage { if type(of: $0).view == view { $0.batchesCame(result, in: &$1) } }
        case .finishedToday: finishedTodayCame(result)
        case .returning: whatHappened(result)
        case .retrying(let rows): causesCame(for: rows, result, number)
        case .replacing(let old, let new): lookedAtReplaced(old, by: new, result)
        default: break
        }
    }
}

extension QueueTotals {
    /// Those of the problems that gave up.
    var failures: Int64 { max(0, problems - (needsPerson ?? 0) - (needsSpace ?? 0) - (needsServer ?? 0)) }

    /// The problems where there is room for a word: nothing that waits is called an error.
    var shortProblems: SafeText {
        if failures > 0 { return "\(Figures.shortCount(problems)) ERR" }
        if let needsPerson, needsPerson > 0 { return "\(Figures.shortCount(needsPerson)) need you" }
        if let needsSpace, needsSpace > 0 { return "\(Figures.shortCount(needsSpace)) need space" }
        return "\(Figures.shortCount(problems)) unserved"
    }

    /// Nothing is unfinished.
    var isOver: Bool { counts.active + counts.unstarted == 0 }
}
