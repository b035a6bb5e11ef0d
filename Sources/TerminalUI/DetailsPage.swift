import DisplayText
import MartletKit
import Terminal

/// Everything about one row, on a page of its own and, the first lines, under the tree of a large window.
struct DetailsPage: Sendable {
    /// As it was last seen.
    var row: NodeRow
    /// A task's own story, once the engine has told it.
    var task: TaskSnapshot?
    var problem: SafeText?
    /// When the story was last asked for.
    var askedAt: Duration?
    /// The first line shown.
    var scroll = 0

    /// Where the text begins: below the bar where there is room for one.
    static func firstLine(rows: Int) -> Int { rows >= 12 ? 3 : 1 }

    mutating func take(_ result: Result<TaskSnapshot, RequestError>, _ look: Look) {
        switch result {
        case .success(let task): self.task = task
        case .failure(let error): problem = look.safe(error.message)
        }
    }
}

extension Model {
    mutating func showDetails(_ row: NodeRow) {
        page = .details(DetailsPage(row: row))
        askForStory()
    }

    private mutating func askForStory() {
        guard case .details(var details) = page, case .task(_, let id) = details.row.id, isConnected else { return }
        details.askedAt = now.uptime
        page = .details(details)
        ask(.task) { .task(id, number: $0) }
    }

    /// Follows the row; its story is asked for again at most once a second, or when its state has changed.
    mutating func refreshDetails(_ update: ViewUpdate) {
        guard case .details(var details) = page else { return }
        let before = details.row
        let watched = update.nodes.values.compactMap(\.self).first { $0.id == before.id }
        guard let row = watched ?? tree.row(before.id), row != before else { return }
        details.row = row
        page = .details(details)
        let isDue = details.askedAt.map { now.uptime - $0 >= .seconds(1) } ?? true
        let isAsked = outstanding.values.contains { if case .task = $0.purpose { true } else { false } }
        if !isAsked, isDue || row.state != before.state { askForStory() }
    }

    mutating func performInDetails(_ action: Action) {
        guard case .details(var details) = page else { return }
        let height = max(1, size.rows - 2 - DetailsPage.firstLine(rows: size.rows))
        let lines = DetailsText(details, state(of: details.row), look, now).lines(width: size.columns)
        let most = max(0, lines.count - height)
        switch action {
        case .down: details.scroll += 1
        case .up: details.scroll -= 1
        case .halfPageDown: details.scroll += height / 2
        case .halfPageUp: details.scroll -= height / 2
        case .pageDown: details.scroll += height - 1
        case .pageUp: details.scroll -= height - 1
        case .first: details.scroll = 0
        case .last: details.scroll = most
        case .back:
            page = .transfers
            return
        case .help:
            page = .help(scroll: 0)
            return
        default: return act(action, on: [details.row])
        }
        details.scroll = min(max(0, details.scroll), most)
        page = .details(details)
    }
}

/// A row in words, line by line.
struct DetailsText {
    private let row: NodeRow
    private let task: TaskSnapshot?
    private let problem: SafeText?
    private let shown: RowState
    private let look: Look
    private let now: Moment

    init(_ page: DetailsPage, _ state: RowState, _ look: Look, _ now: Moment) {
        (row, task, problem) = (page.row, page.task, page.problem)
        shown = state
        self.look = look
        self.now = now
    }

    /// Where values begin.
    static let indent = 14

    /// All of it; long values go on in further lines.
    func lines(width: Int) -> [StyledLine] {
        fields.flatMap { field -> [StyledLine] in
            let room = max(8, width - Self.indent - 2)
            return field.value.wrapped(to: room).enumerated().map { index, part in
                let label = index == 0 ? field.label : ""
                return StyledLine(label.fitted(to: Self.indent), .dim) + StyledLine(part, field.style)
            }
        }
    }

    private typealias Field = (label: SafeText, value: SafeText, style: Style)

    private var fields: [Field] {
        var fields: [Field] = [("State", state, shown.style)]
        if let error = task?.error ?? row.error { fields += self.error(error) }
        fields += ends
        fields.append(("Size", sizes, .plain))
        if row.counts.total != 1 || task == nil, case .task = row.id {
        } else if task == nil {
            fields.append(("Files", files, .plain))
        }
        if row.bytesPerSecond > 0, shown == .running {
            let left = "\(Figures.timeLeftInWords(row.secondsLeft)) left"
            fields.append(("Speed", "\(look.figures.speed(row.bytesPerSecond))   \(left)", .plain))
        }
        if let limit = row.limit { fields.append(("Limit", SafeText(look.figures.speed(limit)), .plain)) }
        if row.priority != .normal { fields.append(("Priority", SafeText(row.priority.rawValue), .plain)) }
        if let start = row.notBefore, start > now.wall {
            fields.append(("Not before", SafeText(look.date(start)), .plain))
        }
        if row.bytesAtRisk > 0 {
            let size = look.figures.size(row.bytesAtRisk)
            fields.append(("If paused", SafeText("\(size) are sent again: the server cannot resume"), .plain))
        }
        if let task { fields += story(task) }
        if let problem { fields.append(("Problem", problem, .error)) }
        return fields
    }

    private var state: SafeText {
        var text: SafeText = "\(shown.longWord), \(shown.meaning)"
        if row.effectivelyPaused, !row.paused, shown == .paused { text += " with what it is in" }
        let wait = row.retryAt.map { now.seconds(until: $0) } ?? 0
        // That it waits for the next try is what the state's meaning says already.
        if shown == .retry { return wait > 0 ? text + ", in \(wait) s" : text }
        if !row.waitReasons.isEmpty { text += ": waits for \(row.waitReasons.words)" }
        return wait > 0 ? text + "; next try in \(wait) s" : text
    }

    private func error(_ error: TransferError) -> [Field] {
        // Who cancelled it wants nothing mended.
        if row.state == .cancelled { return [("Last try", look.safe(error.happening), .plain)] }
        let isTriedAgain = !row.state.isTerminal
        var fields: [Field] = [
            (isTriedAgain ? "Last try" : "What happened", look.safe(error.happening), isTriedAgain ? .warn : .error)
        ]
        if let status = error.httpStatus { fields.append(("Server said", "status \(status)", .plain)) }
        let advice = error.advice.isEmpty ? isTriedAgain ? "nothing" : "mend that" : error.advice
        fields.append(
            ("What to do", look.safe(advice + (isTriedAgain ? "; it is tried again by itself" : ", then r")), .plain))
        return fields
    }

    /// From where and to where.
    private var ends: [Field] {
        if let task {
            return [("From", look.safe(task.source), .plain), ("To", look.safe(task.destination), .plain)]
        }
        let path = look.safe(row.path)
        if path.width == 0 { return [] }
        if case .batch = row.id { return [("To", path, .plain)] }
        return [("Path", path, .plain)]
    }

    private var sizes: SafeText {
        guard row.sizeKnown else { return "unknown; \(look.figures.size(row.bytes.sent)) sent" }
        var text = SafeText(look.figures.size(row.bytes.total))
        // The exact number is for comparing one file with another.
        if case .task = row.id, row.bytes.total >= 1000 { text += " (\(Figures.count(row.bytes.total)) bytes)" }
        let (sent, accepted) = (look.figures.size(row.bytes.sent), look.figures.size(row.bytes.accepted))
        text += "   sent \(sent)"
        if accepted != sent { text += "   accepted \(accepted)" }
        return text
    }

    private var files: SafeText {
        let parts = TransferState.allCases.filter { row.counts[$0] > 0 }
            .map { "\(Figures.count(row.counts[$0])) \($0.rawValue)" }
        let total = "\(Figures.count(row.counts.total))\(row.scanning ? " so far" : "")"
        return SafeText(parts.isEmpty ? total : "\(total): \(parts.joined(separator: ", "))")
    }

    private func story(_ task: TaskSnapshot) -> [Field] {
        var fields: [Field] = []
        fields.append(("Try", tries(task), .plain))
        if !task.resumedFrom.isEmpty {
            let offsets = task.resumedFrom.suffix(8).map { look.figures.size($0) }.joined(separator: ", ")
            fields.append(("Resumed at", SafeText(offsets), .plain))
        }
        if task.bytesRepeated > 0 {
            fields.append(("Sent twice", SafeText(look.figures.size(task.bytesRepeated)), .plain))
        }
        if task.skipped { fields.append(("Skipped", "the same file was there already", .plain)) }
        if task.state == .completed { fields.append(("Checked", SafeText("by \(task.verified.rawValue)"), .plain)) }
        if let digest = task.digest {
            fields.append(("Digest", look.safe("\(digest.algorithm) \(digest.value)"), .plain))
        }
        if let path = task.finalPath { fields.append(("Is now", look.safe(path), .plain)) }
        fields.append(("Belongs to", look.safe("\(task.id) of \(task.batch), session \(task.session)"), .plain))
        if let response = task.response { fields += answer(response) }
        for (index, entry) in (task.history ?? []).enumerated() {
            let attempt = entry.attempt.map { " (try \($0))" } ?? ""
            let cause = (entry.message ?? entry.cause?.words).map { ": \($0)" } ?? ""
            let text = "\(look.date(entry.time))  \(entry.what)\(attempt)\(cause)"
            fields.append((index == 0 ? "History" : "", look.safe(text), .plain))
        }
        return fields
    }

    /// The server's last words: what it answered, the fields that say something, the beginning of the body.
    private func answer(_ response: TransferResponse) -> [Field] {
        var fields: [Field] = [("Answer", "\(response.status)", .plain)]
        for header in response.headers.prefix(12) {
            fields.append(("", look.safe("\(header.name): \(header.value)"), .dim))
        }
        if let body = response.body, !body.isEmpty {
            fields.append(("Body", look.safe(String(body.prefix(600))), .dim))
        }
        return fields
    }

    private func tries(_ task: TaskSnapshot) -> SafeText {
        var text = task.attempts == 0 ? "none yet" : "\(task.attempts)"
        if task.restarts > 0 { text += ", \(task.restarts) of them from the beginning" }
        if let started = task.startedAt { text += ", started \(look.date(started))" }
        if let finished = task.finishedAt { text += ", over \(look.date(finished))" }
        return SafeText(text)
    }
}

extension NodeRow {
    /// Whether it stands for any number of files.
    var canHold: Bool {
        if case .task = id { false } else { true }
    }
}
