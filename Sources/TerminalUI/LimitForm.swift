import Configuration
import DisplayText
import MartletKit
import Terminal

/// Speed limits and the number of transfers at once, one line each: what is typed there counts with Enter.
struct LimitForm: Sendable {
    /// What a line is about.
    enum Subject: Hashable, Sendable {
        case sent, received, transfers
        case host(String)
        case session(String)
        case rows
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
            field = TextField(Array(text.utf8))
        }

        var text: String? { field.text.map { String($0.withoutBlanks) } }
        var isChanged: Bool { text != before }
    }

    /// What was typed, understood.
    struct Wish: Hashable, Sendable {
        var limits = LimitsWish()
        /// Of the rows; 0 takes the limit away.
        var rate: Int64?
        var isEmpty: Bool { limits == LimitsWish() && rate == nil }
    }

    enum Outcome: Sendable {
        case open
        case closed
        case entered(Wish)
    }

    /// The rows that the last line is about.
    let rows: [NodeRow]
    /// All that match this are meant instead.
    let matching: String?
    private(set) var lines: [Line]
    private(set) var selected: Int
    /// What is wrong with a line.
    private(set) var note: SafeText?

    /// - Parameters:
    ///   - title: what the rows are called.
    ///   - host: where they go, when that is known.
    ///   - session: whose they are, when that is known.
    ///   - matching: the filter whose files are meant instead of rows.
    init(
        _ limits: TransferLimits, rows: [NodeRow], title: SafeText, host: String?, session: String? = nil,
        matching: String? = nil
    ) {
        (self.rows, self.matching) = (rows, matching)
        lines = [
            Line(.sent, "All that is sent", limits.upTimetable ?? Self.written(limits.up)),
            Line(.received, "All that is received", limits.downTimetable ?? Self.written(limits.down)),
            Line(.transfers, "Transfers at once", "\(limits.transfers)"),
        ]
        if let host {
            let rate = limits.scoped.first { $0.kind == .host && $0.name == host }?.rate
            lines.append(Line(.host(host), "Host \(RawText.safe(host))", Self.written(rate)))
        }
        if let session {
            let rate = limits.scoped.first { $0.kind == .session && $0.name == session }?.rate
            lines.append(Line(.session(session), "Session \(RawText.safe(session))", Self.written(rate)))
        }
        if matching != nil {
            lines.append(Line(.rows, title, ""))
        } else if !rows.isEmpty {
            // Several that differ: an empty line leaves each as it is.
            let rates = Set(rows.map(\.limit))
            lines.append(Line(.rows, title, rates.count == 1 ? Self.written(rates.first ?? nil) : ""))
        }
        selected = lines.count - 1
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

    mutating func paste(_ bytes: [UInt8]) { lines[selected].field.insert(bytes.filter { $0 >= 32 && $0 != 127 }) }

    private mutating func select(_ index: Int) { selected = (index + lines.count) % lines.count }

    /// `nil`: a line makes no sense, and says so.
    private mutating func wish() -> Wish? {
        var wish = Wish()
        for (index, line) in lines.enumerated() where line.isChanged {
            let text = line.text ?? ""
            guard read(line.subject, text, into: &wish) else {
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
        case .rows:
            guard let rate = RateLimit(text.isEmpty ? "off" : text) else { return false }
            wish.rate = rate.bytesPerSecond ?? 0
        }
        return true
    }

    private static func fault(of subject: Subject) -> SafeText {
        switch subject {
        case .sent, .received: "Give a rate such as 512K or 2M, off, or 08:00,512K 18:00,off."
        case .transfers: "Give a number from 1 to 256."
        case .host, .session, .rows: "Give a rate such as 512K or 2M, or off."
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

/// Names of hosts, as URLs have them, and of sessions are made of ASCII.
private enum RawText {
    static func safe(_ text: String) -> SafeText { SafeText(String(text.unicodeScalars.filter { $0.isASCII })) }
}

extension Model {
    /// The limits are asked for first: the form shows what holds.
    mutating func openLimits(_ rows: [NodeRow]) {
        let rows = rows.filter { row in
            if case .group = row.id { return false }
            return !row.isOver
        }
        // Whatever all that match are, their hosts and sessions are many.
        let matching = rows.isEmpty && filter?.marksAll == true ? filter?.sent : nil
        ask(.limits(rows, matching: matching)) { .limits(of: rows.first?.id.batch, number: $0) }
    }

    mutating func limitsCame(
        _ result: Result<TransferLimits, RequestError>, _ session: SessionName?, _ number: Int
    ) {
        guard let request = outstanding.removeValue(forKey: number),
            case .limits(let rows, let matching) = request.purpose
        else {
            return
        }
        switch result {
        case .failure(let error): complain(advised(error.message))
        case .success(let limits):
            form = LimitForm(
                limits, rows: rows, title: matching.map { self.matching($0) } ?? title(rows),
                host: rows.first.flatMap { host(of: $0) }, session: session?.rawValue, matching: matching)
        }
    }

    /// Where a row's batch goes, as its URL says.
    private func host(of row: NodeRow) -> String? {
        let host = row.id.batch.flatMap { tree.row(.batch($0)) }?.path.urlHost ?? ""
        return host.isEmpty ? nil : host
    }

    mutating func takeInForm(_ press: KeyPress) {
        guard let outcome = form?.take(press) else { return }
        switch outcome {
        case .open: break
        case .closed: form = nil
        case .entered(let wish):
            guard canChange else { return complain(cannotChange) }
            let (rows, matching) = (form?.rows ?? [], form?.matching)
            form = nil
            if wish.limits != LimitsWish() { ask(.setLimits) { .setLimits(wish.limits, number: $0) } }
            guard let rate = wish.rate else { break }
            let deed = Deed.set(NodeSettings(limit: rate))
            guard let matching else { return send(deed, rows) }
            ask(.named(deed, self.matching(matching))) {
                .act(deed, .matching(NodeSelector(filter: matching)), number: $0)
            }
        }
    }

    /// What has become of the limits of everything, in a sentence.
    mutating func limitsSet(_ result: Result<TransferLimits, RequestError>, _ number: Int) {
        guard let request = outstanding.removeValue(forKey: number) else { return }
        switch result {
        case .failure(let error): complain(advised(error.message))
        case .success(let limits):
            repeating.note(request, .last)
            let until = request.sentAt + grace
            say(
                SafeText("Limits: \(sentence(limits))."),
                undo: until > now.uptime ? Notice.Undo(choice: .last, name: "the limits", until: until) : nil)
        }
    }

    func sentence(_ limits: TransferLimits) -> String {
        func rate(_ bytes: Int64?, _ table: String?) -> String {
            let now = bytes.map { look.figures.speed($0) } ?? "off"
            return table == nil ? now : "\(now) now"
        }
        return "up \(rate(limits.up, limits.upTimetable)), down \(rate(limits.down, limits.downTimetable)), "
            + "\(limits.transfers) at once"
    }
}
