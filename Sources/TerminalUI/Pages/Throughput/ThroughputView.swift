import DisplayText
import MartletKit
import Terminal

/// The choices on the page of the throughput, kept from one visit to the next.
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
    /// The batch of the graph; `nil`: everything.
    private(set) var batch: BatchID?
    /// As the engine told, and when.
    private(set) var report: ThroughputReport?
    private(set) var toldAt: Duration?
    /// Tenths of a percent of one processor, between the last two answers.
    private(set) var processor: Int64?
    var askedAt: Duration?
    /// Something has changed since the engine was asked.
    var isStale = false

    mutating func take(_ report: ThroughputReport, at uptime: Duration) {
        if let now = report.process, let before = self.report?.process {
            let passed = now.uptimeMilliseconds - before.uptimeMilliseconds
            // A shorter time says nothing, and another engine's began anew.
            if passed >= 500 { processor = max(0, now.cpuMilliseconds - before.cpuMilliseconds) * 1000 / passed }
            if passed < 0 { processor = nil }
        }
        (self.report, toldAt) = (report, uptime)
        if processor == nil, report.process != nil { isStale = true }
    }

    /// Forgets the engine's cost: it is of now, not of the time since the page was open last.
    mutating func forgetProcess() {
        report?.process = nil
        processor = nil
    }

    mutating func choose(_ batch: BatchID?) {
        (self.batch, point) = (batch, nil)
    }

    /// Both ways of a span's steps as they are now, oldest first; fewer than the span has: nothing is known of the ones before.
    func steps(of span: Span, at uptime: Duration) -> [(up: Int64, down: Int64)] {
        // What was told of another batch is no answer.
        guard let toldAt, let report, report.batch == batch,
            let told = report.series.first(where: { $0.seconds == span.stepSeconds })
        else { return [] }
        let passed = Int((uptime - toldAt).components.seconds / span.stepSeconds)
        let known = zip(told.up, told.down).map { (up: $0.0, down: $0.1) }
        return Array((known + Array(repeating: (up: 0, down: 0), count: min(passed, span.steps))).suffix(span.steps))
    }

    func steps(at uptime: Duration) -> [(up: Int64, down: Int64)] { steps(of: span, at: uptime) }

    /// The average of the last steps of a span in bytes a second, of all or of `seconds`; `nil`: nothing is known.
    func average(of span: Span, seconds: Int64? = nil, at uptime: Duration) -> Int64? {
        let steps = self.steps(of: span, at: uptime).suffix(Int((seconds ?? span.seconds) / span.stepSeconds))
        return steps.isEmpty ? nil : ByteSum.of(steps.lazy.map { $0.up + $0.down }) / Int64(steps.count)
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

/// The speeds that this screen knows, and the choices on their page.
struct ThroughputState: Sendable {
    var seen = Throughput()
    var view = ThroughputView()
}
