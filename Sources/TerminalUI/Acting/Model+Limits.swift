import Configuration
import DisplayText
import MartletKit
import Terminal

/// Limits: what they are, the form for them, and what became of it.
extension Model {
    /// The form of limits that is open.
    var form: LimitForm? {
        get { layers[LimitForm.self] }
        set { layers[LimitForm.self] = newValue }
    }

    /// The limits are asked for first: the form shows what holds.
    mutating func openLimits(_ rows: [NodeRow]) {
        var targets = LimitForm.Targets()
        targets.rows = rows.filter { row in
            if case .group = row.id { return false }
            return !row.isOver
        }
        if let id = rows.first?.id.batch, rows.allSatisfy({ $0.id.batch == id }), let batch = tree.row(.batch(id)),
            !batch.isOver
        {
            targets.batch = batch
        }
        // Whatever all that match are, their hosts and sessions are many.
        targets.matching = rows.isEmpty && filters.shown?.marksAll == true ? filters.shown?.sent : nil
        ask(.limits(targets)) { .limits(of: (targets.rows.first ?? targets.batch)?.id.batch, number: $0) }
    }

    mutating func limitsCame(
        _ result: Result<TransferLimits, RequestError>, _ session: SessionName?, _ number: Int
    ) {
        guard let request = requests.outstanding.removeValue(forKey: number),
            case .limits(let targets) = request.purpose
        else {
            return
        }
        switch result {
        case .failure(let error): complain(advised(error))
        case .success(let limits):
            form = LimitForm(
                limits, targets,
                title: { subject in
                    let title = limitTitle(subject)
                    return appearance.safe(title.string.prefix(1).uppercased())
                        + SafeText(Array(title.glyphs.dropFirst()))
                },
                host: (targets.rows.first ?? targets.batch).flatMap { host(of: $0) }, session: session?.rawValue)
        }
    }

    /// The name of what has a limit, within a sentence.
    func limitTitle(_ subject: LimitForm.Subject) -> SafeText {
        switch subject {
        case .sent: return "all that is sent"
        case .received: return "all that is received"
        case .transfers: return "transfers at once"
        case .host(let name): return "host " + appearance.safe(name)
        case .session(let name): return "session " + appearance.safe(name)
        case .matching(let filter): return matching(filter)
        case .rows(let rows):
            guard rows.count == 1, let row = rows.first else { return title(rows) }
            switch row.id {
            case .batch(let id): return "batch \(id) " + title(rows)
            case .folder: return "folder " + title(rows)
            case .task, .group: return title(rows)
            }
        }
    }

    /// The host that a row's batch goes to, as its URL says.
    private func host(of row: NodeRow) -> String? {
        let host = row.id.batch.flatMap { tree.row(.batch($0)) }?.path.urlHost ?? ""
        return host.isEmpty ? nil : host
    }

    /// Takes the answer to new limits of everything, hosts and sessions.
    mutating func limitsSet(_ result: Result<TransferLimits, RequestError>, _ number: Int) {
        guard let request = requests.outstanding.removeValue(forKey: number),
            case .setLimits(let wish) = request.purpose
        else { return }
        switch result {
        case .failure(let error):
            forget(request, number, error)
            complain(advised(error))
        case .success(let limits):
            let undo = limits.operation.map { UndoChoice.operation($0) }
            if undo != nil {
                changes.history.done(request, number, undo, at: now.uptime)
            } else {
                changes.history.dropped(request, number, isRefused: false)
            }
            let until = request.sentAt + connection.grace
            say(
                said(wish, limits),
                undo: until > now.uptime ? undo.map { Notice.Undo(choice: $0, name: "the limits", until: until) } : nil,
                isLogged: true)
        }
    }

    /// The message about settings made on rows.
    func said(_ settings: NodeSettings, of what: SafeText) -> SafeText {
        let limit = settings.limit.map { told($0) }
        if settings.isLimit, let limit { return "Limit of " + what + ": " + limit + "." }
        let priority = settings.priority.map { SafeText("priority \($0.rawValue)") }
        let existing = settings.ifExists.map { SafeText("what is there: \($0.rawValue)") }
        let parts = [priority, limit.map { "limit " + $0 }, existing].compactMap(\.self)
        return what + ": " + parts.dropFirst().reduce(parts.first ?? "changed") { $0 + ", " + $1 } + "."
    }

    /// One sentence for each that was set, with what it is now.
    private func said(_ wish: LimitsWish, _ limits: TransferLimits) -> SafeText {
        var sentences: [SafeText] = []
        func note(_ subject: LimitForm.Subject, _ rate: SafeText) {
            sentences.append("Limit of " + limitTitle(subject) + ": " + rate + ".")
        }
        if let up = wish.up { note(.sent, told(up, now: limits.up)) }
        if let down = wish.down { note(.received, told(down, now: limits.down)) }
        if let transfers = wish.transfers { sentences.append("Transfers at once: \(transfers).") }
        if let transfers = wish.transfersPerHost { sentences.append("Transfers at once to a host: \(transfers).") }
        for scope in wish.scoped {
            note(scope.kind == .host ? .host(scope.name) : .session(scope.name), told(scope.rate))
        }
        return sentences.dropFirst().reduce(sentences.first ?? "") { $0 + " " + $1 }
    }

    /// A rate as it is shown; a timetable as it was typed, with what holds now.
    private func told(_ typed: String, now rate: Int64?) -> SafeText {
        if let rate = RateLimit(typed) { return told(rate.bytesPerSecond ?? 0) }
        return appearance.safe(typed) + " (" + told(rate ?? 0) + " now)"
    }

    /// Bytes a second; 0: no limit.
    private func told(_ rate: Int64) -> SafeText { rate > 0 ? SafeText(appearance.figures.speed(rate)) : "off" }

    func sentence(_ limits: TransferLimits) -> String {
        func rate(_ bytes: Int64?, _ table: String?) -> String {
            let now = bytes.map { appearance.figures.speed($0) } ?? "off"
            return table == nil ? now : "\(now) now"
        }
        return "up \(rate(limits.up, limits.upTimetable)), down \(rate(limits.down, limits.downTimetable)), "
            + "\(limits.transfers) at once"
    }
}

extension NodeSettings {
    /// A limit, and nothing else.
    var isLimit: Bool { limit != nil && self == NodeSettings(limit: limit) }
}
