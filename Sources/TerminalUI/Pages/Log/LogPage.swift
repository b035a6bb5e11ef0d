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
        // Who goes back reads; who comes to the end wants what comes.
        if page.back != back { page.isFollowing = page.back == 0 }
        return page
    }
}

extension Model {
    mutating func showLog() {
        showLog(LogPage())
    }

    /// From the beginning, at the page's level.
    private mutating func showLog(_ page: LogPage) {
        var log = page
        log.add(said.filter { $0.level >= log.level })
        let level = log.level
        if isConnected { log.request = ask(.log) { .log(level, after: nil, number: $0) } }
        self.page = .log(log)
    }

    mutating func performInLog(_ action: Action, _ log: LogPage) {
        var log = log
        switch action {
        case .filter:
            log.beginTyping()
            page = .log(log)
        case .level:
            var other = LogPage()
            let order: [LogLevel] = [.info, .user, .warning, .error, .debug]
            other.level = order[((order.firstIndex(of: log.level) ?? 0) + 1) % order.count]
            showLog(other)
        case .write: requests.append(.write(Drawing.text(of: log.found[...], self) + "\n", name: "log.txt"))
        case .back where !log.find.isEmpty:
            log.take(KeyPress(.escape))
            page = .log(log)
        case .help: openHelp()
        default: page = log.scrolled(action, height: size.rows - 2).map { .log($0) } ?? .transfers
        }
    }

    /// Lines have come; waits for the next ones as long as the page is open.
    mutating func logged(_ lines: [LogLine], _ next: Int64, _ number: Int) {
        if takeRecent(lines, next, number) { return }
        guard outstanding.removeValue(forKey: number) != nil, case .log(var log) = page, log.request == number else {
            return
        }
        log.add(lines)
        let level = log.level
        log.request = ask(.log, isPatient: true) { .log(level, after: next, number: $0) }
        page = .log(log)
    }
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
