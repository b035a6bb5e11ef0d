import Configuration
import DisplayText
import MartletKit
import Terminal

/// Speed limits and the number of transfers at once, one line each: what is typed there counts with Enter.
struct LimitForm: Sendable {
    /// The thing that a line limits.
    enum Subject: Hashable, Sendable {
        case sent, received, transfers
        case host(String)
        case session(String)
        /// Each of them.
        case rows([NodeRow])
        /// All files that match this filter.
        case matching(String)
    }

    struct Line: Sendable {
        let subject: Subject
        let label: SafeText
        var field: TextField
        /// As the engine told it.
        let before: String

        init(_ subject: Subject, _ label: SafeText, _ text: String) {
            self.subject = subject
            self.label = label
            before = text
            field = TextField(proposal: Array(text.utf8))
        }

        var text: String? { field.text.map { String($0.withoutBlanks) } }
        var isChanged: Bool { text != before }
    }

    /// The limits that were typed, parsed.
    struct Wish: Hashable, Sendable {
        var limits = LimitsWish()
        /// The rates of rows, line by line; 0 takes the limit away.
        var rates: [Rate] = []
        var isEmpty: Bool { limits == LimitsWish() && rates.isEmpty }

        struct Rate: Hashable, Sendable {
            var subject: Subject
            var bytesPerSecond: Int64
        }
    }

    /// The row of the cursor, or all that is marked.
    struct Targets: Sendable {
        /// The rows that are not over and can have a limit of their own.
        var rows: [NodeRow] = []
        /// The batch that all of them are in.
        var batch: NodeRow?
        /// The filter whose files are meant instead of rows.
        var matching: String?
    }

    enum Outcome: Sendable {
        case open
        case closed
        case entered(Wish)
    }

    private(set) var lines: [Line]
    private(set) var selected: Int
    /// The error in a line.
    private(set) var note: SafeText?

    /// It begins in the line of what it was opened on; a file has its batch's, because of single files hardly anybody means it.
    /// - Parameters:
    ///   - title: what the subject of a line is called.
    ///   - host: where they go, when that is known.
    ///   - session: whose they are, when that is known.
    init(
        _ limits: TransferLimits, _ targets: Targets, title: (Subject) -> SafeText, host: String?,
        session: String? = nil
    ) {
        lines = [
            Line(.sent, title(.sent), limits.upTimetable ?? Self.written(limits.up)),
            Line(.received, title(.received), limits.downTimetable ?? Self.written(limits.down)),
            Line(.transfers, title(.transfers), "\(limits.transfers)"),
        ]
        if let host {
            let rate = limits.scoped.first { $0.kind == .host && $0.name == host }?.rate
            lines.append(Line(.host(host), title(.host(host)), Self.written(rate)))
        }
        if let session {
            let rate = limits.scoped.first { $0.kind == .session && $0.name == session }?.rate
            lines.append(Line(.session(session), title(.session(session)), Self.written(rate)))
        }
        if let matching = targets.matching {
            let subject = Subject.matching(matching)
            lines.append(Line(subject, title(subject), ""))
        }
        let batch = targets.batch.map { [$0] } ?? []
        for rows in batch == targets.rows ? [batch] : [batch, targets.rows] where !rows.isEmpty {
            let subject = Subject.rows(rows)
            // Several that differ: an empty line leaves each as it is.
            let rates = Set(rows.map(\.limit))
            lines.append(Line(subject, title(subject), rates.count == 1 ? Self.written(rates.first ?? nil) : ""))
        }
        let isFile = if case .task? = targets.rows.first?.id { targets.rows.count == 1 } else { false }
        let own: Subject? = isFile && !batch.isEmpty ? .rows(batch) : lines.last?.subject
        let isOfNothing = targets.matching == nil && targets.rows.isEmpty && batch.isEmpty
        selected = isOfNothing ? 0 : lines.firstIndex { $0.subject == own } ?? 0
    }

    private static func written(_ rate: Int64?) -> String {
        rate.map { RateLimit.bytesPerSecond($0).written } ?? RateLimit.unlimited.written
    }

    mutating func take(_ press: KeyPress) -> Outcome {
        note = nil
        switch (press.key, press.modifiers) {
        case (.escape, _), (.character("c"), .control): return .closed
        case (.tab, let modifiers): select(selected + (modifiers.contains(.shift) ? -1 : 1))
        case (.down, _): select(selected + 1)
        case (.up, _): select(selected - 1)
        case (.enter, _):
            guard let wish = wish() else { return .open }
            return wish.isEmpty ? .closed : .entered(wish)
        default: _ = lines[selected].field.edit(press)
        }
        return .open
    }

    mutating func paste(_ bytes: [UInt8]) { lines[selected].field.paste(bytes) }

    /// To a line that was clicked.
    mutating func go(to line: Int) { if lines.indices.contains(line) { select(line) } }

    private mutating func select(_ index: Int) { selected = (index + lines.count) % lines.count }

    /// `nil`: a line makes no sense, and says so.
    private mutating func wish() -> Wish? {
        var wish = Wish()
        for (index, line) in lines.enumerated() where line.isChanged {
            // Nothing typed is off: what is no text is not that.
            guard let text = line.text, read(line.subject, text, into: &wish) else {
                selected = index
                note = Self.fault(of: line.subject)
                return nil
            }
        }
        return wish
    }

    private func read(_ subject: Subject, _ text: String, into wish: inout Wish) -> Bool {
        switch subject {
        case .sent, .received:
            // Nothing typed means no limit.
            guard let table = RateTimetable(text.isEmpty ? "off" : text) else { return false }
            if subject == .sent { wish.limits.up = table.written } else { wish.limits.down = table.written }
        case .transfers:
            guard let count = Int(text), (1...256).contains(count) else { return false }
            wish.limits.transfers = count
        case .host(let name):
            guard let rate = RateLimit(text.isEmpty ? "off" : text) else { return false }
            wish.limits.scoped.append(ScopedLimit(kind: .host, name: name, rate: rate.bytesPerSecond ?? 0))
        case .session(let name):
            guard let rate = RateLimit(text.isEmpty ? "off" : text) else { return false }
            wish.limits.scoped.append(ScopedLimit(kind: .session, name: name, rate: rate.bytesPerSecond ?? 0))
        case .rows, .matching:
            guard let rate = RateLimit(text.isEmpty ? "off" : text) else { return false }
            wish.rates.append(Wish.Rate(subject: subject, bytesPerSecond: rate.bytesPerSecond ?? 0))
        }
        return true
    }

    private static func fault(of subject: Subject) -> SafeText {
        switch subject {
        case .sent, .received: "Give a rate such as 512K or 2M, off, or 08:00,512K 18:00,off."
        case .transfers: "Give a number from 1 to 256."
        case .host, .session, .rows, .matching: "Give a rate such as 512K or 2M, or off."
        }
    }
}

extension String {
    fileprivate var withoutBlanks: Substring {
        var text = self[...]
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text
    }
}
