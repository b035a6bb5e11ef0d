import DisplayText
import MartletKit
import Terminal

/// The numbers below the picture: of everything, or of the batch whose graph it is.
extension Drawing {
    var speedNow: Int64 {
        guard model.hearsNews else { return 0 }
        if model.throughput.view.batch != nil { return model.throughputBatch.map { speed(of: $0) } ?? 0 }
        return model.totals.map { $0.bytesPerSecondUp + $0.bytesPerSecondDown } ?? 0
    }

    /// The speed of a batch in bytes a second; 0 when it stands still, whatever its last seconds come to.
    func speed(of batch: NodeRow) -> Int64 { model.state(of: batch) == .running ? batch.bytesPerSecond : 0 }

    /// `now 41.0M/s, avg 1m 39.8M/s, ...`
    var numbersInWords: String { numbers.map { "\($0.label.string) \($0.value.string)" }.joined(separator: ", ") }

    var numbers: [(label: SafeText, value: SafeText)] {
        let speeds: [(SafeText, Int64)] = [
            ("now", speedNow), ("avg 1m", averageOfMinute), ("avg " + span.title, averageOfSpan), ("peak", peak),
        ]
        return speeds.map { ($0.0, SafeText(appearance.figures.speed($0.1))) } + (view.batch == nil ? ofToday : ofBatch)
    }

    private var view: ThroughputView { model.throughput.view }
    private var span: ThroughputView.Span { view.span }
    private var isEverything: Bool { view.batch == nil }

    /// All averages are of the same steps, or two of them could contradict each other: the engine's, and only until it has told, this
    /// screen's.
    private var averageOfMinute: Int64 {
        view.average(of: .minutes, seconds: 60, at: model.now.uptime) ?? seen(minutes: 1)
    }

    private var averageOfSpan: Int64 {
        view.average(of: span, at: model.now.uptime) ?? (span == .minutes ? seen(minutes: 5) : 0)
    }

    private func seen(minutes: Int) -> Int64 {
        isEverything ? model.throughput.seen.average(of: .seconds(60 * minutes), at: model.now.uptime) : 0
    }

    /// The steps of a longer span are averages of more time: what was higher in a shorter one, or was seen here, was so in the longer one,
    /// too.
    private var peak: Int64 {
        let spans = ThroughputView.Span.allCases.prefix { $0.rawValue <= span.rawValue }
        let told = spans.flatMap { view.steps(of: $0, at: model.now.uptime) }.map { $0.up + $0.down }.max() ?? 0
        let seen = isEverything ? model.throughput.seen.peak(at: model.now.uptime) : 0
        return max(told, seen, speedNow)
    }

    /// Each way for itself, and how often something fails.
    private var ofToday: [(SafeText, SafeText)] {
        guard let report = view.report, let sent = report.sentToday else { return [("sent today", "-")] }
        var numbers: [(SafeText, SafeText)] = []
        let received = report.receivedToday ?? 0
        if sent > 0 || received == 0 { numbers.append(("sent today", SafeText(appearance.figures.size(sent)))) }
        if received > 0 { numbers.append(("recv today", SafeText(appearance.figures.size(received)))) }
        if let errors = report.errors, let seconds = report.errorSeconds {
            numbers.append(("errors/min", Self.rate(errors, in: seconds)))
        }
        return numbers
    }

    private var ofBatch: [(SafeText, SafeText)] {
        guard let batch = model.throughputBatch else { return [] }
        return [(batch.isDownload ? "received" : "sent", SafeText(appearance.figures.size(batch.bytes.sent)))]
    }

    /// A minute's: `0.4`; what has happened at all is never 0.
    static func rate(_ count: Int64, in seconds: Int64) -> SafeText {
        if count == 0 { return "0" }
        let tenths = max(1, count * 600 / max(1, seconds))
        return tenths < 1000 ? "\(tenths / 10).\(tenths % 10)" : SafeText(Figures.shortCount(tenths / 10))
    }
}
