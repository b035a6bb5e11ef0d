import DisplayText
import MartletKit
import Terminal

/// The page of the throughput: what the engine is asked for it, and what its keys do.
extension Model {
    private static let pause = Duration.seconds(2)

    /// When the page opens, as long as something moves on it, and once more when it has come to rest.
    mutating func askForThroughput(isPatient: Bool = false) {
        let isAsked = outstanding.values.contains { if case .throughput = $0.purpose { true } else { false } }
        if isAsked || throughputView.askedAt.map({ now.uptime - $0 < Self.pause }) ?? false {
            throughputView.askedAt = throughputView.askedAt ?? now.uptime
            return throughputView.isStale = true
        }
        guard isConnected else { return }
        (throughputView.askedAt, throughputView.isStale) = (now.uptime, false)
        let batch: BatchID? = if case .throughput = page { throughputView.batch } else { nil }
        ask(.throughput(of: batch), isPatient: isPatient) { .throughput(of: batch, number: $0) }
    }

    /// Until it is to be asked again; `nil`: nothing has changed.
    var untilThroughputIsAsked: Duration? {
        guard case .throughput = page, isConnected, throughputView.isStale, let asked = throughputView.askedAt,
            !outstanding.values.contains(where: { if case .throughput = $0.purpose { true } else { false } })
        else { return nil }
        return asked + Self.pause - now.uptime
    }

    mutating func throughputCame(_ result: Result<ThroughputReport, RequestError>, _ number: Int) {
        guard case .throughput(let batch) = outstanding.removeValue(forKey: number)?.purpose else { return }
        if case .success(let report) = result {
            throughputView.take(report, at: now.uptime)
            let steps = ThroughputView.Span.minutes.stepSeconds
            if report.batch == nil, let series = report.series.first(where: { $0.seconds == steps }) {
                throughput.begin(with: zip(series.up, series.down).map { $0 + $1 }, at: now.uptime)
            }
        }
        guard case .throughput = page, batch != throughputView.batch else { return }
        // Another one was chosen meanwhile.
        throughputView.askedAt = nil
        askForThroughput()
    }

    mutating func showThroughput() {
        page = .throughput
        throughputView.choose(nil)
        throughputView.forgetProcess()
        throughputView.askedAt = nil
        askForThroughput()
    }

    mutating func performInThroughput(_ action: Action) {
        switch action {
        case .back where throughputView.point != nil: throughputView.point = nil
        case .back: page = .transfers
        case .help: openHelp()
        case .limit: openLimits(throughputBatch.map { [$0] } ?? [])
        case .longerSpan: throughputView.show(1)
        case .shorterSpan: throughputView.show(-1)
        case .earlierPoint: throughputView.movePoint(by: 1, at: now.uptime)
        case .laterPoint: throughputView.movePoint(by: -1, at: now.uptime)
        case .down: chooseBatch(1)
        case .up: chooseBatch(-1)
        default: break
        }
    }

    // MARK: Batches

    /// Those that are not over, in the queue's order: speeds and states change too often to sort by them under somebody who chooses.
    var throughputBatches: [NodeRow] {
        let isList = filter == nil && tree.root != nil
        return (isList ? tree.root?.rows ?? [] : hiddenBatches).filter { !$0.isOver }
    }

    /// The one whose graph is shown; `nil`: it is everything's, or the batch is over.
    var throughputBatch: NodeRow? {
        throughputView.batch.flatMap { id in throughputBatches.first { $0.id == .batch(id) } }
    }

    /// Everything stands above the first batch.
    private mutating func chooseBatch(_ step: Int) {
        let batches: [BatchID?] = [nil] + throughputBatches.map(\.id.batch)
        let place = batches.firstIndex(of: throughputView.batch) ?? 0
        let next = batches[min(max(0, place + step), batches.count - 1)]
        guard next != throughputView.batch else { return }
        throughputView.choose(next)
        throughputView.askedAt = nil
        askForThroughput()
    }
}
