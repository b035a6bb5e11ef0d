import DisplayText
import MartletKit
import Terminal

/// The newest lines of the engine's log, below the list where the lower part is high enough.
struct RecentLog: Sendable {
    private(set) var lines: [LogLine] = []
    /// The request whose lines come next.
    var request: Int?
    /// None can be read from this engine.
    var isRefused = false

    /// As many as are kept.
    private static let most = 8

    mutating func add(_ new: [LogLine]) { lines = (lines + new).suffix(Self.most) }
}

extension Model {
    private var wantsRecentLog: Bool {
        guard isConnected, !layout.lowerLog.isEmpty, !isAdding, page is TransfersPage else { return false }
        return true
    }

    /// Asked for as long as it is in sight.
    mutating func askForRecentLog() {
        guard wantsRecentLog, recentLog.request == nil, !recentLog.isRefused else { return }
        recentLog = RecentLog()
        recentLog.request = ask(LogRequest(level: .info, isPatient: true))
    }

    /// The lines that were asked for have come, or none can be had.
    mutating func recentCame(_ result: Result<LogLines, RequestError>) {
        recentLog.request = nil
        switch result {
        case .success(let new):
            recentLog.add(new.lines)
            if wantsRecentLog {
                recentLog.request = ask(LogRequest(level: .info, after: new.next, isPatient: true))
            }
        case .failure: recentLog.isRefused = true
        }
    }

    /// Logs the lines that a library has printed meanwhile.
    mutating func takePrinted(_ lines: [[UInt8]]) {
        for line in lines.suffix(50) {
            note("printed: \(SafeText(line, characterSet: appearance.characterSet))", isError: true)
            if let last = said.last { tellPage { $0.noted(last, in: &$1) } }
        }
    }
}

extension Drawing {
    mutating func lowerLog() {
        guard let row = layout.lowerLog.first else { return }
        let key = model.keys.keys(for: .log, in: .transfers).first?.name ?? "L"
        heading("Log", row: row, columns: 0..<width)
        let hint: SafeText = " \(SafeText(key)) opens the log "
        grid.put(hint, row: row, column: width - hint.width - 1, style: .dim)
        let places = layout.lowerLog.dropFirst()
        for (y, line) in zip(places, model.recentLog.lines.suffix(places.count)) {
            let head = appearance.safe("\(appearance.timeOfDay(line.at)) \(line.level.word)").fitted(to: 15)
            let end = grid.put(head, row: y, column: 1, style: line.level.style, end: width)
            grid.put(
                appearance.safe(line.subject + line.message).cut(to: width - end - 1, appearance.glyphs), row: y,
                column: end)
        }
    }
}
