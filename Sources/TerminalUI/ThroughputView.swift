import DisplayText
import MartletKit
import Terminal

/// What is looked at on the page of the throughput, from one visit to the next.
struct ThroughputView: Sendable {
    /// 5 minutes, an hour, a day: as the engine keeps them.
    enum Span: Int, CaseIterable, Sendable {
        case minutes, hour, day

        var title: SafeText {
            switch self {
            case .minutes: "5m"
            case .hour: "1h"
            case .day: "24h"
            }
        }

        var stepSeconds: Int64 { SpeedHistory.spans[rawValue].seconds }
        var steps: Int { SpeedHistory.spans[rawValue].steps }
        var seconds: Int64 { stepSeconds * Int64(steps) }

        /// Below the axis, as seconds back from now with their words.
        var marks: [(seconds: Int64, word: String)] {
            switch self {
            case .minutes: (1...5).map { (Int64($0) * 60, "-\($0)m") }
            case .hour: (1...6).map { (Int64($0) * 600, "-\($0 * 10)m") }
            case .day: (1...6).map { (Int64($0) * 14_400, "-\($0 * 4)h") }
            }
        }
    }

    var span = Span.minutes
    /// Steps back from now, where the cursor reads; `nil`: it reads nothing.
    var point: Int?
    /// As the engine told, and when.
    private(set) var series: [SpeedSeries] = []
    private(set) var toldAt: Duration?
    var askedAt: Duration?

    mutating func take(_ series: [SpeedSeries], at uptime: Duration) {
        (self.series, toldAt) = (series, uptime)
    }

    /// Both ways of the span's steps as they are now, oldest first; fewer than the span has: nothing is known of the ones before.
    func steps(at uptime: Duration) -> [(up: Int64, down: Int64)] {
        guard let toldAt, let told = series.first(where: { $0.seconds == span.stepSeconds }) else { return [] }
        let passed = Int((uptime - toldAt).components.seconds / span.stepSeconds)
        let known = zip(told.up, told.down).map { (up: $0.0, down: $0.1) }
        return Array((known + Array(repeating: (up: 0, down: 0), count: min(passed, span.steps))).suffix(span.steps))
    }

    /// What the steps come to on average.
    func average(at uptime: Duration) -> Int64 {
        let steps = steps(at: uptime)
        return steps.isEmpty ? 0 : steps.reduce(0) { $0 + $1.up + $1.down } / Int64(steps.count)
    }

    mutating func movePoint(by steps: Int, at uptime: Duration) {
        let known = self.steps(at: uptime).count
        guard known > 0 else { return point = nil }
        // From the left on, or from now back.
        let next = point.map { $0 + steps } ?? 0
        point = next < 0 ? nil : min(next, known - 1)
    }

    mutating func show(_ step: Int) {
        let next = Span(rawValue: span.rawValue + step) ?? span
        if next != span { (span, point) = (next, nil) }
    }
}

extension Model {
    /// When the page opens, and as long as something moves on it.
    mutating func askForThroughput() {
        let isAsked = outstanding.values.contains { if case .throughput = $0.purpose { true } else { false } }
        if let asked = throughputView.askedAt, now.uptime - asked < .seconds(2) { return }
        guard isConnected, !isAsked else { return }
        throughputView.askedAt = now.uptime
        ask(.throughput) { .throughput(number: $0) }
    }

    mutating func throughputCame(_ result: Result<[SpeedSeries], RequestError>, _ number: Int) {
        guard outstanding.removeValue(forKey: number) != nil else { return }
        if case .success(let series) = result { throughputView.take(series, at: now.uptime) }
    }

    mutating func showThroughput() {
        page = .throughput
        throughputView.point = nil
        throughputView.askedAt = nil
        askForThroughput()
    }

    mutating func performInThroughput(_ action: Action) {
        switch action {
        case .back where throughputView.point != nil: throughputView.point = nil
        case .back: page = .transfers
        case .help: openHelp()
        case .limit: openLimits([])
        case .longerSpan: throughputView.show(1)
        case .shorterSpan: throughputView.show(-1)
        case .earlierPoint: throughputView.movePoint(by: 1, at: now.uptime)
        case .laterPoint: throughputView.movePoint(by: -1, at: now.uptime)
        default: break
        }
    }
}
