import Configuration
import MartletKit
import Wording

/// The dialogue of the line mode. A value: lines in, lines and commands out.
struct LineDialogue {
    enum Event: Sendable {
        case line(String)
        case tick
        /// Nothing more comes in.
        case end
    }

    struct QueueState: Sendable {
        var batches: [BatchSnapshot]
        var totals: QueueTotals
        /// Names of configured servers.
        var destinations: [String] = []
        /// Bytes of the current place that would be sent again if it were stopped.
        var bytesAtRisk: Int64 = 0
    }

    struct Reply: Equatable {
        var lines: [String] = []
        /// Words of `martlet` commands.
        var commands: [[String]] = []
        /// Failed files of a batch are queued again, for another place.
        var elsewhere: Elsewhere?
        /// The first files of a batch are told, what needs a look before what is done.
        var files: BatchID?
        var leaves = false
    }

    struct Elsewhere: Equatable {
        var batch: BatchID
        var destination: String
    }

    /// The current place in the conversation.
    indirect enum Place: Equatable {
        case top
        case batch(BatchID)
        /// A folder or file of a batch, as commands name it.
        case part(String, of: BatchID?)
        /// All files that match.
        case filter(String)
        case sources
        case destination([String])
        case links
        case folder([String])
        /// Asks for another destination of a batch's failed files.
        case elsewhere(BatchID)
        case findingPart(BatchID)
        /// Asks what to do about files that are there already, before a batch's files are tried again.
        case existing(BatchID)
        case filtering
        /// Asks for a limit of everything, or of what is named.
        case limit(String?, back: Place)
        /// Asks whether these words are meant.
        case sure(question: String, words: [String], no: String, back: Place)
    }

    private struct Told {
        var state: TransferState
        var failed: Int64
        var percent: Int
        var at: Int64

        init(_ batch: BatchSnapshot, now: Int64) {
            (state, failed, at) = (batch.state, batch.filesFailed, now)
            percent = batch.share.percent
        }
    }

    let units: ScreenConfiguration.Units
    /// A pause that costs so much or more is asked about.
    let askLost: Int64
    var place = Place.top
    /// The last figures told of each batch.
    private var told: [BatchID: Told] = [:]

    /// The lists and choices that were said last: an answer means them, whatever has changed since.
    struct Said {
        /// The batches and servers, of which a number means one.
        var batches: [BatchID]?
        var destinations: [String]?
        /// The batch of the menu, and whether `p` resumes it there.
        var menu: (batch: BatchID, resumes: Bool)?
    }

    var said = Said()

    /// As many as are read out.
    static let most = 20

    /// In which order files are told.
    static let filesFirst: [[TransferState]] = [
        [.failed], [.running, .finishing], [.waiting], [.paused], [.queued, .created], [.cancelled], [.completed],
    ]

    init(units: ScreenConfiguration.Units, askLost: Int64 = ScreenConfiguration().askLost.bytes) {
        (self.units, self.askLost) = (units, askLost)
    }

    // MARK: What is said

    mutating func greeting(_ queue: QueueState) -> [String] {
        for batch in queue.batches { told[batch.id] = Told(batch, now: 0) }
        return overview(queue) + prompt(queue)
    }

    mutating func overview(_ queue: QueueState) -> [String] {
        said.batches = queue.batches.prefix(Self.most).map(\.id)
        let totals = queue.totals
        guard totals.batches > 0 else { return ["martlet. Nothing is queued."] }
        var words = ["martlet. \(totals.batches) \(totals.batches == 1 ? "batch" : "batches")."]
        words.append(
            "\(totals.share(scanning: queue.batches.contains(where: \.scanning)).percent) percent, \(size(totals.bytes.done)) of \(size(totals.bytes.total))."
        )
        let speed = totals.bytesPerSecondUp + totals.bytesPerSecondDown
        if speed > 0 { words.append("\(size(speed)) per second.") }
        if let left = totals.secondsLeft, totals.counts.active > 0 { words.append("About \(Self.time(left)).") }
        let lines = queue.batches.prefix(Self.most).enumerated().map { "\($0.offset + 1) \(sentence($0.element))" }
        let more = queue.batches.count - Self.most
        return [words.joined(separator: " ")] + lines + (more > 0 ? ["And \(more) more: martlet list shows them."] : [])
    }

    func sentence(_ batch: BatchSnapshot) -> String {
        var parts = [batch.name, batch.state == .created ? "held" : batch.state.rawValue]
        if batch.state != .completed { parts.append("\(batch.share.percent) percent") }
        if let left = batch.secondsLeft, batch.state == .running { parts.append(Self.time(left)) }
        if let reason = batch.waitReasons.first, batch.state == .waiting { parts.append("waits for \(reason.words)") }
        var text = parts.joined(separator: ", ") + "."
        if batch.filesFailed > 0 {
            text += " \(batch.filesFailed) \(batch.filesFailed == 1 ? "file" : "files") failed"
            text += batch.causes.first.map { "\($0.told)." } ?? "."
        }
        return text
    }

    /// The choices that can be answered now.
    mutating func prompt(_ queue: QueueState) -> [String] {
        switch place {
        case .batch(let id) where !queue.batches.contains { $0.id == id }:
            return ["That batch is gone. 0 back:"]
        case .batch(let id):
            said.menu = (id, Self.canBeResumed(id, queue))
            return [menu(queue)?.prompt].compactMap(\.self)
        case .top, .part, .filter: return [menu(queue)?.prompt].compactMap(\.self)
        case .sure(let question, _, _, _): return ["\(question) y yes, n no:"]
        case .sources: return ["Which files or folders? Quote names with spaces. 0 goes back:"]
        case .links: return ["Which URLs, with spaces between? 0 goes back:"]
        case .folder: return ["Into which folder of this machine? 0 goes back:"]
        case .destination: return known(queue) + ["To which URL? 0 goes back:"]
        case .elsewhere:
            return known(queue) + ["To which URL are the failed files to go instead? 0 goes back:"]
        case .existing:
            return [
                "Something of that name is there. o overwrites it, s skips and keeps it, for the whole batch from now on; t tries again because you moved it, 0 goes back:"
            ]
        case .findingPart:
            return ["Which folder or file of it? Its path, such as raw/2024, or t31. 0 goes back:"]
        case .filtering:
            return ["Which files? Such as @err, size>1G or *.jpg. 0 goes back:"]
        case .limit(nil, _):
            return [
                "Which limit? Such as 2M, up 512K, down 8M, transfers 4 or off. An empty line goes back:"
            ]
        case .limit(let name?, _):
            return [
                "How fast may \(name) be at most? Bytes a second such as 512K or 2M, or off. An empty line goes back:"
            ]
        }
    }

    static func canBeResumed(_ id: BatchID, _ queue: QueueState) -> Bool {
        let batch = queue.batches.first { $0.id == id }
        return batch?.paused == true || batch?.state == .created
    }

    /// The configured servers, which can be chosen by number.
    private mutating func known(_ queue: QueueState) -> [String] {
        let shown = Array(queue.destinations.prefix(Self.most))
        said.destinations = shown
        let names = shown.enumerated().map { "\($0.offset + 1) \($0.element)" }
        return names.isEmpty ? [] : ["Known: \(names.joined(separator: ", "))."]
    }

    /// News that a person wants to be told unasked: what ended or failed at once, progress each 10 percent and no more often
    /// than every 30 seconds.
    mutating func news(_ queue: QueueState, now: Int64) -> [String] {
        var lines: [String] = []
        for batch in queue.batches {
            let current = Told(batch, now: now)
            guard let before = told[batch.id] else {
                told[batch.id] = current
                lines.append("New: \(sentence(batch))")
                continue
            }
            let hasChanged = before.state != current.state || before.failed < current.failed
            let hasMoved = current.percent >= before.percent + 10 && now - before.at >= 30_000
            guard hasChanged || hasMoved else { continue }
            told[batch.id] = current
            lines.append(sentence(batch))
        }
        return lines
    }
}
