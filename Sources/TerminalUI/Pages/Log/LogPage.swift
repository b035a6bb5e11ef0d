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
    var find = SoughtWords()
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

    /// To the newest line.
    private mutating func follow() { (back, isFollowing) = (0, true) }

    /// Scrolls by a key, or follows what comes.
    mutating func scroll(_ action: Action, height: Int) {
        let before = back
        switch action {
        case .down: back -= 1
        case .up: back += 1
        case .halfPageDown: back -= height / 2
        case .halfPageUp: back += height / 2
        case .pageDown: back -= height
        case .pageUp: back += height
        case .first: back = lines.count
        case .last: back = 0
        case .follow:
            if isFollowing { isFollowing = false } else { follow() }
            return
        default: break
        }
        back = min(max(0, back), max(0, found.count - height))
        // A person who goes back reads; at the end new lines are followed again.
        if back != before { isFollowing = back == 0 }
    }
}

extension LogPage: SearchablePage {
    static var view: KeyMap.View { .log }
    static var opener: Action? { .log }
    static var openingKeys: [String] { ["L", "4"] }
    static var command: String? { "log" }

    static func open(in model: inout Model) { open(.info, in: &model) }

    /// From the beginning.
    private static func open(_ level: LogLevel, in model: inout Model) {
        var log = LogPage()
        log.level = level
        log.add(model.said.filter { $0.level >= level })
        if model.isConnected { log.connected(in: &model) }
        model.go(to: log)
    }

    /// Nobody answers any more what was asked before. Lines that are shown come once more, and stay where they are.
    mutating func connected(in model: inout Model) { request = model.ask(LogRequest(level: level)) }

    mutating func soughtOthers() { follow() }

    mutating func noted(_ line: LogLine, in model: inout Model) { if line.level >= level { add([line]) } }

    mutating func perform(_ action: Action, in model: inout Model) {
        switch action {
        case .filter: find.begin()
        case .level:
            let order: [LogLevel] = [.info, .user, .warning, .error, .debug]
            Self.open(order[((order.firstIndex(of: level) ?? 0) + 1) % order.count], in: &model)
        case .write:
            model.requests.append(.write(Self.text(of: found[...], model.appearance) + "\n", name: "log.txt"))
        case .back where !find.isEmpty:
            find.take(KeyPress(.escape))
            soughtOthers()
        case .back: model.goToTransfers()
        default: scroll(action, height: model.size.rows - 2)
        }
    }

    /// The answer to a request of the page; waits for the next lines as long as the page is open.
    fileprivate mutating func answered(_ result: Result<LogLines, RequestError>, in model: inout Model) {
        switch result {
        case .success(let new):
            let known = Set(lines)
            add(new.lines.filter { !known.contains($0) })
            problem = nil
            request = model.ask(LogRequest(level: level, after: new.next, isPatient: true))
        case .failure(let error): problem = model.appearance.safe(error.message)
        }
    }

    func draw(in drawing: inout Drawing) { drawing.log(self) }

    func copied(all: Bool, in drawing: Drawing) -> CopiedText {
        .shown(Self.text(of: all ? found[...] : window(max(1, drawing.rows - 2)).suffix(1), drawing.appearance))
    }

    /// Lines of the log, one each.
    private static func text(of lines: ArraySlice<LogLine>, _ appearance: Appearance) -> String {
        lines.map { line in
            appearance.safe("\(appearance.date(line.at)) \(line.level.word) \(line.subject)\(line.message)").string
        }.joined(separator: "\n")
    }
}

/// Lines of the engine's log, and the cursor behind the last one.
typealias LogLines = (lines: [LogLine], next: Int64)

/// The engine's log: its newest lines, or those behind `after`, waiting for one. The page asks, and the lower part of the list.
struct LogRequest: PageRequest {
    let level: LogLevel
    var after: Int64?
    var isPatient = false

    func answer(at desk: RequestDesk) async throws(RequestError) -> LogLines {
        try await desk.engine.log(level: level, after: after)
    }

    func answered(_ result: Result<LogLines, RequestError>, number: Int, in model: inout Model) {
        if number == model.recentLog.request { return model.recentCame(result) }
        model.tellPage(LogPage.self) { log, model in
            if log.request == number { log.answered(result, in: &model) }
        }
    }
}

extension KeyMap.View {
    package static let log = Self(
        "log", nameInHelp: "the log", page: LogPage.self,
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
