import DisplayText
import MartletKit
import Terminal

/// What the engine logged and what this screen said, newest last.
struct LogPage: Sendable {
    /// In the order in which they came; at most `most`.
    private(set) var lines: [LogLine] = []
    var problem: SafeText?
    /// The request whose lines come next; an earlier page's may still be answered.
    var request = 0
    /// How many lines the last one shown is away from the end; 0 follows.
    private(set) var back = 0

    static let most = 500

    mutating func add(_ new: [LogLine]) {
        lines = (lines + new).sorted { $0.at < $1.at }.suffix(Self.most)
        // Whoever looks at something old goes on seeing it.
        if back > 0 { back = min(back + new.count, lines.count) }
    }

    /// The lines in a window of `height`.
    func window(_ height: Int) -> ArraySlice<LogLine> { lines.dropLast(back).suffix(max(0, height)) }

    /// What a key does; `nil`: the page is left.
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
        case .back: return nil
        default: break
        }
        page.back = min(max(0, page.back), max(0, lines.count - height))
        return page
    }
}

extension Model {
    mutating func showLog() {
        var log = LogPage()
        log.add(said)
        if isConnected { log.request = ask(.log) { .log(after: nil, number: $0) } }
        page = .log(log)
    }

    /// Lines have come; waits for the next ones as long as the page is open.
    mutating func logged(_ lines: [LogLine], _ next: Int64, _ number: Int) {
        guard outstanding.removeValue(forKey: number) != nil, case .log(var log) = page, log.request == number else {
            return
        }
        log.add(lines)
        log.request = ask(.log, isPatient: true) { .log(after: next, number: $0) }
        page = .log(log)
    }
}

extension LogLevel {
    /// At most 5 letters.
    var word: String { self == .warning ? "WARN" : rawValue.uppercased() }
}
