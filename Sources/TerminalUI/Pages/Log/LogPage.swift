import DisplayText
import MartletKit
import Terminal

/// The lines that the engine logged and this screen said, newest last.
struct LogPage: Sendable {
    /// In the order in which they came; at most `most`.
    private(set) var lines: [LogLine] = []
    var problem: SafeText?
    /// The request whose lines come next; an earlier page's may still be answered.
    var request = 0
    /// Nothing below it is asked for.
    var level = LogLevel.info
    /// Only lines with this in them.
    private(set) var find = SoughtWords()
    var isTyping: Bool { find.isTyping }
    /// The number of lines between the last one shown and the end.
    private(set) var back = 0
    /// New lines are shown as they come.
    private(set) var isFollowing = true

    static let most = 500

    mutating func add(_ new: [LogLine]) {
        lines = (lines + new).sorted { $0.at < $1.at }.suffix(Self.most)
        // Whoever looks at something old goes on seeing it, though the oldest lines may go.
        if !isFollowing { back = min(back + sought(in: new).count, found.count) }
    }

    /// The lines in a window of `height`.
    func window(_ height: Int) -> ArraySlice<LogLine> { found.dropLast(back).suffix(max(0, height)) }

    /// The lines in which the words stand.
    var found: [LogLine] { sought(in: lines) }

    private func sought(in lines: [LogLine]) -> [LogLine] {
        let words = find.words
        if words.isEmpty { return lines }
        return lines.filter { line in
            let text = "\(line.level.word) \(line.subject)\(line.message)".lowercased()
            return words.allSatisfy { text.contains($0) }
        }
    }

    mutating func beginTyping() { find.begin() }

    mutating func take(_ press: KeyPress) {
        find.take(press)
        follow()
    }

    mutating func paste(_ bytes: [UInt8]) {
        find.paste(bytes)
        follow()
    }

    /// To the newest line.
    private mutating func follow() { (back, isFollowing) = (0, true) }

    /// The page after a key; `nil`: the page is left.
    func scrolled(_ action: Action, height: Int) -> LogPage? {
        var page = self
        switch action {
        case .down: page.back -= 1
        case .up: page.back += 1
        case .halfPageDown: page.back -= height / 2
        case .halfPageUp: page.back += height / 2
        case .pageDown: page.back -= height
        case .pageUp: page.back += height
        case .first: page.back = lines.count
        case .last: page.back = 0
        case .follow:
            if page.isFollowing { page.isFollowing = false } else { page.follow() }
            return page
        case .back: return nil
        default: break
        }
        page.back = min(max(0, page.back), max(0, page.found.count - height))
        // A person who goes back reads; at the end new lines are followed again.
        if page.back != back { page.isFollowing = page.back == 0 }
        return page
    }
}

extension LogPage: Page {
    static var view: KeyMap.View { .log }
    static var opener: Action? { .log }
    static var openingKeys: [String] { ["L", "4"] }

    static func open(in model: inout Model) { LogPage().begin(in: &model) }

    /// From the beginning, at the page's level.
    private func begin(in model: inout Model) {
        var log = self
        log.add(model.said.filter { $0.level >= log.level })
        let level = log.level
        if model.isConnected { log.request = model.ask(.log) { .log(level, after: nil, number: $0) } }
        model.page = log
    }

    /// Nobody answers any more what was asked before. Lines that are shown come once more, and stay where they are.
    func connected(in model: inout Model) {
        var log = self
        log.request = model.ask(.log) { .log(level, after: nil, number: $0) }
        model.page = log
    }

    func take(_ press: KeyPress, in model: inout Model) -> Bool {
        guard find.isTyping else { return false }
        var log = self
        log.take(press)
        model.page = log
        return true
    }

    func paste(_ bytes: [UInt8], in model: inout Model) -> Bool {
        guard find.isTyping else { return false }
        var log = self
        log.paste(bytes)
        model.page = log
        return true
    }

    func noted(_ line: LogLine, in model: inout Model) {
        guard line.level >= level else { return }
        var log = self
        log.add([line])
        model.page = log
    }

    func perform(_ action: Action, in model: inout Model) {
        var log = self
        switch action {
        case .filter:
            log.beginTyping()
            model.page = log
        case .level:
            var other = LogPage()
            let order: [LogLevel] = [.info, .user, .warning, .error, .debug]
            other.level = order[((order.firstIndex(of: log.level) ?? 0) + 1) % order.count]
            other.begin(in: &model)
        case .write:
            model.requests.append(.write(Self.text(of: log.found[...], model.appearance) + "\n", name: "log.txt"))
        case .back where !log.find.isEmpty:
            log.take(KeyPress(.escape))
            model.page = log
        case .help: model.openHelp()
        default: model.page = log.scrolled(action, height: model.size.rows - 2) ?? TransfersPage()
        }
    }

    static func take(_ answer: Answer, in model: inout Model) -> Bool {
        switch answer {
        case .log(let lines, let next, let number): take(lines, next, number, in: &model)
        case .noLog(let error, let number):
            if model.refuseRecent(number) { return true }
            guard model.requests.outstanding.removeValue(forKey: number) != nil, var log = model.page as? LogPage,
                log.request == number
            else { return true }
            log.problem = model.appearance.safe(error.message)
            model.page = log
        default: return false
        }
        return true
    }

    /// Lines have come; waits for the next ones as long as the page is open.
    private static func take(_ lines: [LogLine], _ next: Int64, _ number: Int, in model: inout Model) {
        if model.takeRecent(lines, next, number) { return }
        guard model.requests.outstanding.removeValue(forKey: number) != nil, var log = model.page as? LogPage,
            log.request == number
        else { return }
        let known = Set(log.lines)
        log.add(lines.filter { !known.contains($0) })
        log.problem = nil
        let level = log.level
        log.request = model.ask(.log, isPatient: true) { .log(level, after: next, number: $0) }
        model.page = log
    }

    func draw(in drawing: inout Drawing) { drawing.log(self) }

    func copied(all: Bool, in drawing: Drawing) -> String {
        Self.text(of: all ? found[...] : window(max(1, drawing.rows - 2)).suffix(1), drawing.appearance)
    }

    /// Lines of the log, one each.
    private static func text(of lines: ArraySlice<LogLine>, _ appearance: Appearance) -> String {
        lines.map { line in
            appearance.safe("\(appearance.date(line.at)) \(line.level.word) \(line.subject)\(line.message)").string
        }.joined(separator: "\n")
    }
}

extension KeyMap.View {
    package static let log = Self(
        "log", place: "the log", page: LogPage.self,
        words: [.follow: Words(hint: "follow")],
        keys: KeyMap.moving + KeyMap.everywhere + KeyMap.pages + KeyMap.copying + [
            (.filter, ["/", "f"]), (.level, ["v"]), (.follow, ["F"]), (.write, ["w"]),
            KeyMap.back(from: LogPage.self),
        ])
}

extension LogLevel {
    /// At most 5 letters.
    var word: String { self == .warning ? "WARN" : rawValue.uppercased() }

    var style: Style {
        switch self {
        case .error: .error
        case .warning: .warn
        case .user: Style(.plain, strong: true)
        case .debug, .info: .plain
        }
    }
}

extension Drawing {
    fileprivate mutating func log(_ page: LogPage) {
        let below = page.back > 0 ? ", \(page.back) newer below" : ""
        title(
            "Log", page.isFollowing ? "follows, newest last" : "does not follow\(SafeText(below))",
            right: "level \(page.level.rawValue)")
        let height = max(0, rows - 2)
        var lines = page.window(height).flatMap { line -> [StyledLine] in
            let head = appearance.safe("\(appearance.timeOfDay(line.at)) \(line.level.word)").fitted(to: 15)
            let parts = appearance.safe(line.subject + line.message).wrapped(to: max(10, width - 17))
            return parts.enumerated().map { index, part in
                (index == 0 ? StyledLine(head, line.level.style) : StyledLine(SafeText("").fitted(to: 15)))
                    + StyledLine(part)
            }
        }
        if let problem = page.problem { lines.append(StyledLine(problem, .error)) }
        if lines.isEmpty {
            lines = [StyledLine(page.find.isEmpty ? "Nothing was logged yet." : "No line has that in it.")]
        }
        text(lines.suffix(height), 1..<max(1, rows - 1))
        footer([.back, .filter, .level, .follow, .write, .copy, .help], in: .log)
        guard page.find.isShown, rows > 2 else { return }
        finding(page.find, SafeText("\(page.found.count) of \(page.lines.count)"))
    }

    private mutating func text(_ lines: some Sequence<StyledLine>, _ place: Range<Int>) {
        for (row, line) in zip(place, lines) { grid.put(line, row: row, column: 1) }
        cursor = Cursor(row: min(1, rows - 1), column: min(1, width - 1))
    }
}
