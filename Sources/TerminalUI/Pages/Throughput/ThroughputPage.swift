import DisplayText
import MartletKit
import Terminal

/// The page of the throughput: what the engine is asked for it, and what its keys do. The choices on it are kept from one visit to the next
/// (`ThroughputView`), and what was seen is shown below the list, too (`Throughput`).
struct ThroughputPage: Page {
    static var view: KeyMap.View { .throughput }
    static var opener: Action? { .throughput }
    static var openingKeys: [String] { ["b", "2"] }

    static func open(in model: inout Model) {
        model.go(to: ThroughputPage())
        model.throughput.view.choose(nil)
        model.throughput.view.forgetProcess()
        model.throughput.view.askedAt = nil
        model.askForThroughput()
    }

    /// The engine is asked no sooner again than after this.
    fileprivate static let interval = Duration.seconds(2)

    func connected(in model: inout Model) { model.askForThroughput() }

    func totalsCame(after before: QueueTotals?, in model: inout Model) { model.askForThroughput() }

    func refresh(in model: inout Model) { model.askForThroughput() }

    /// Until it is to be asked again; `nil`: nothing has changed.
    func untilRefresh(in model: Model) -> Duration? {
        guard model.isConnected, model.throughput.view.isStale, let asked = model.throughput.view.askedAt,
            !model.awaits(ThroughputRequest.self)
        else { return nil }
        return asked + Self.interval - model.now.uptime
    }

    func perform(_ action: Action, in model: inout Model) {
        switch action {
        case .back where model.throughput.view.point != nil: model.throughput.view.point = nil
        case .back: model.goToTransfers()
        case .limit: model.openLimits(model.throughputBatch.map { [$0] } ?? [])
        case .longerSpan: model.throughput.view.show(1)
        case .shorterSpan: model.throughput.view.show(-1)
        case .earlierPoint: model.throughput.view.movePoint(by: 1, at: model.now.uptime)
        case .laterPoint: model.throughput.view.movePoint(by: -1, at: model.now.uptime)
        case .down: chooseBatch(1, in: &model)
        case .up: chooseBatch(-1, in: &model)
        default: break
        }
    }

    /// Everything stands above the first batch.
    private func chooseBatch(_ step: Int, in model: inout Model) {
        let batches: [BatchID?] = [nil] + model.throughputBatches.map(\.id.batch)
        let place = batches.firstIndex(of: model.throughput.view.batch) ?? 0
        let next = batches[min(max(0, place + step), batches.count - 1)]
        guard next != model.throughput.view.batch else { return }
        model.throughput.view.choose(next)
        model.throughput.view.askedAt = nil
        model.askForThroughput()
    }

    func draw(in drawing: inout Drawing) { drawing.throughput() }

    func copied(all: Bool, in drawing: Drawing) -> CopiedText {
        .shown(all ? drawing.shownRows : drawing.numbersInWords)
    }
}

extension KeyMap.View {
    package static let throughput = Self(
        "throughput", nameInHelp: "throughput", page: ThroughputPage.self,
        words: [
            .down: Words(help: "next batch", hint: "next batch"), .up: Words(help: "previous batch, or all"),
        ],
        keys: KeyMap.everywhere + KeyMap.pages + KeyMap.copying + [
            (.down, ["j", "Down"]), (.up, ["k", "Up"]),
            (.limit, ["T"]), (.longerSpan, ["l", "]"]), (.shorterSpan, ["h", "["]), (.earlierPoint, ["Left"]),
            (.laterPoint, ["Right"]), KeyMap.back(from: ThroughputPage.self),
        ])
}

/// The past speed of everything, or of one batch.
struct ThroughputRequest: PageRequest {
    let batch: BatchID?
    var isPatient = false

    func answer(at desk: RequestDesk) async throws(RequestError) -> ThroughputReport {
        try await desk.engine.throughput(of: batch)
    }

    func answered(_ result: Result<ThroughputReport, RequestError>, number: Int, in model: inout Model) {
        if case .success(let report) = result {
            model.throughput.view.take(report, at: model.now.uptime)
            let steps = ThroughputView.Span.minutes.stepSeconds
            if report.batch == nil, let series = report.series.first(where: { $0.seconds == steps }) {
                model.throughput.seen.begin(with: zip(series.up, series.down).map { $0 + $1 }, at: model.now.uptime)
            }
        }
        guard model.hearingPage is ThroughputPage, batch != model.throughput.view.batch else { return }
        // Another one was chosen meanwhile.
        model.throughput.view.askedAt = nil
        model.askForThroughput()
    }
}

extension Model {
    /// When the page opens, as long as something moves on it, and once more when it has come to rest.
    mutating func askForThroughput(isPatient: Bool = false) {
        if awaits(ThroughputRequest.self)
            || throughput.view.askedAt.map({ now.uptime - $0 < ThroughputPage.interval }) ?? false
        {
            throughput.view.askedAt = throughput.view.askedAt ?? now.uptime
            return throughput.view.isStale = true
        }
        guard isConnected else { return }
        (throughput.view.askedAt, throughput.view.isStale) = (now.uptime, false)
        let batch: BatchID? = if hearingPage is ThroughputPage { throughput.view.batch } else { nil }
        ask(ThroughputRequest(batch: batch, isPatient: isPatient))
    }

    /// Those that are not over, in the queue's order: speeds and states change too often to sort by them under somebody who chooses.
    var throughputBatches: [NodeRow] {
        let isList = filters.shown == nil && tree.root != nil
        return (isList ? tree.root?.rows ?? [] : filters.hiddenBatches).filter { !$0.isOver }
    }

    /// The one whose graph is shown; `nil`: it is everything's, or the batch is over.
    var throughputBatch: NodeRow? {
        throughput.view.batch.flatMap { id in throughputBatches.first { $0.id == .batch(id) } }
    }

    /// The name of a batch, also of one that is over.
    func throughputName(of batch: BatchID) -> SafeText {
        let row = ((tree.root?.rows ?? []) + filters.hiddenBatches).first { $0.id == .batch(batch) }
        return row.map { appearance.safe($0.name) } ?? SafeText("\(batch)")
    }
}
