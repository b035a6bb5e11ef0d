import Configuration
import DisplayText
import FoundationEssentials
@testable import MartletKit
import Terminal

@testable import TerminalUI

/// A screen without a terminal and an engine: keys and news in, pictures and requests out, by a clock turned by hand.
struct ScreenHarness {
    var model: Model
    var requests: [Request] = []
    /// The engine gives no sign of life.
    var isHung = false
    private(set) var uptime = Duration.zero

    /// 2026-11-21 12:41:00 UTC.
    static let morning = Timestamp(milliseconds: 1_795_264_860_000)

    init(_ columns: Int, _ rows: Int, glyphs: GlyphSet = .ascii, machine: String? = nil) {
        let appearance = Appearance(
            glyphs: glyphs,
            timeOfDay: { String($0.description.dropFirst(11).prefix(8)) },
            date: { String($0.description.prefix(19)) })
        model = Model(
            appearance: appearance, size: ScreenSize(columns: columns, rows: rows), home: Array("/home/ana".utf8),
            machine: machine, now: Moment(uptime: .zero, wall: Self.morning))
    }

    /// Connected, with these sections.
    init(_ columns: Int, _ rows: Int, _ sections: [TreeSection], totals: QueueTotals? = nil) {
        self.init(columns, rows)
        connect()
        news(sections, totals: totals)
    }

    var moment: Moment { Moment(uptime: uptime, wall: Self.morning.advanced(by: uptime)) }
    var picture: String { Drawing.draw(model).grid.picture }
    var rolePicture: String { Drawing.draw(model).grid.rolePicture }
    var cursorName: String? { model.tree.cursorRow?.name }
    /// The last lines of the picture without its frame.
    var lines: [String] {
        picture.split(separator: "\n").dropFirst().dropLast().map { String($0.dropFirst().dropLast()) }
    }

    mutating func connect() {
        send(.link(.connected(EngineIdentity(pid: 1, version: "1", protocolVersion: "1"))))
    }

    mutating func send(_ message: Message) { requests = model.update(message, at: moment) }

    mutating func news(_ sections: [TreeSection], totals: QueueTotals? = nil) {
        var update = ViewUpdate()
        update.sections = sections
        // What the engine would say of these batches, unless the test knows better.
        update.totals = totals ?? sections.first { $0.parent == nil }.map { Rows.totals($0.rows) }
        send(.update(update))
    }

    /// Keys by their names; a name that is none is typed letter by letter.
    mutating func press(_ names: String...) {
        for name in names {
            if let press = KeyPress(name: name) {
                send(.input(.key(press)))
            } else {
                for scalar in name.unicodeScalars { send(.input(.key(.character(scalar)))) }
            }
        }
    }

    /// The form of limits, with the engine's answer in it.
    mutating func openLimits() {
        press("T")
        let limits = TransferLimits(up: nil, down: nil, transfers: 8, transfersPerHost: 8)
        send(.answer(.limits(.success(limits), session: nil, number: lastNumber)))
    }

    mutating func wait(_ duration: Duration) {
        uptime += duration
        send(.tick)
        // An engine that says nothing is asked whether it lives.
        guard !isHung else { return }
        let wanted = requests.filter { if case .status = $0 { false } else { true } }
        for case .status(let number) in requests { send(.answer(.status(.success(nil), number: number))) }
        requests = wanted
    }

    /// The number of the request that awaits an answer.
    var lastNumber: Int { model.requests.outstanding.keys.max() ?? 0 }

    mutating func answer(_ results: [NodeResult]) {
        let undo: UndoChoice? = results.contains { $0.result == .done } ? .operation(7) : nil
        send(.answer(.acted(.success(NodesChanged(results: results, undo: undo)), number: lastNumber)))
    }

    /// Answers a page's own request: the one with this number, which is the last one where none is named.
    mutating func answer<Asked: PageRequest>(
        _ kind: Asked.Type, _ result: Result<Asked.Value, RequestError>, number: Int? = nil
    ) {
        let number = number ?? lastNumber
        guard case .page(let asked, _)? = model.requests.outstanding[number]?.request,
            let request = asked.request as? Asked
        else { return }
        send(.answer(.page(PageAnswer(request, result), number: number)))
    }

    /// Those of this kind among the requests of the last message, and their numbers.
    func asked<Asked: PageRequest>(_ kind: Asked.Type) -> [(request: Asked, number: Int)] {
        requests.compactMap { made in
            guard case .page(let asked, let number) = made, let request = asked.request as? Asked else {
                return nil
            }
            return (request, number)
        }
    }

    mutating func answerDone(_ node: NodeID = .batch(BatchID(rawValue: 1))) {
        answer([NodeResult(id: node, result: .done)])
    }
}

/// Rows of an invented queue.
enum Rows {
    static func batch(
        _ id: Int64, _ name: String, _ state: TransferState, _ counts: (inout FileCounts) -> Void = { _ in },
        total: Int64 = 0, sent: Int64 = 0, speed: Int64 = 0, left: Int64? = nil, path: String = "https://host/in/"
    ) -> NodeRow {
        row(.batch(BatchID(rawValue: id)), name, state, counts, total, sent, speed, left, path)
    }

    static func folder(
        _ batch: Int64, _ id: Int64, _ name: String, _ state: TransferState,
        _ counts: (inout FileCounts) -> Void = { _ in }, total: Int64 = 0, sent: Int64 = 0, speed: Int64 = 0,
        left: Int64? = nil
    ) -> NodeRow {
        row(
            .folder(BatchID(rawValue: batch), FolderID(rawValue: id)), name, state, counts, total, sent, speed, left,
            "/home/ana/\(name) -> https://host/in/\(name)")
    }

    static func task(
        _ batch: Int64, _ id: Int64, _ name: String, _ state: TransferState, total: Int64 = 0, sent: Int64 = 0,
        speed: Int64 = 0, left: Int64? = nil
    ) -> NodeRow {
        row(
            .task(BatchID(rawValue: batch), TaskID(rawValue: id)), name, state, { $0[state] = 1 }, total, sent, speed,
            left, "/home/ana/\(name) -> https://host/in/\(name)")
    }

    static func group(_ batch: Int64, _ folder: Int64, _ state: TransferState, _ count: Int64, total: Int64 = 0)
        -> NodeRow
    {
        row(
            .group(BatchID(rawValue: batch), FolderID(rawValue: folder), RowID.Fate(state)), "", state,
            { $0[state] = count },
            total, state == .completed ? total : 0, 0, nil, "")
    }

    private static func row(
        _ id: RowID, _ name: String, _ state: TransferState, _ counts: (inout FileCounts) -> Void, _ total: Int64,
        _ sent: Int64, _ speed: Int64, _ left: Int64?, _ path: String
    ) -> NodeRow {
        var files = FileCounts()
        counts(&files)
        var row = NodeRow(
            id: id, name: name, state: state, counts: files,
            bytes: ByteCounts(total: total, sent: sent, accepted: sent, verified: 0))
        row.bytesPerSecond = speed
        row.secondsLeft = left
        row.paused = state == .paused
        row.effectivelyPaused = state == .paused
        row.path = path
        if !path.isEmpty {
            row.source = RawPath(path.firstRange(of: " -> ").map { String(path[..<$0.lowerBound]) } ?? path)
        }
        return row
    }

    /// A batch as the engine tells it when it is asked for all of them.
    static func snapshot(
        _ id: Int64, _ name: String, _ state: TransferState, _ counts: (inout FileCounts) -> Void = { _ in },
        to destination: String = "https://host/in/", created: Timestamp = ScreenHarness.morning,
        finished: Timestamp? = nil, scanning: Bool = false, bytes: ByteCounts = ByteCounts(), waits: [WaitReason] = [],
        causes: [CauseCount] = []
    ) -> BatchSnapshot {
        var files = FileCounts()
        counts(&files)
        return BatchSnapshot(
            id: BatchID(rawValue: id), uuid: UUID(), session: .default, name: name, direction: .upload, state: state,
            scanning: scanning, paused: false, priority: .normal, createdAt: created, finishedAt: finished,
            destination: destination, counts: files, bytes: bytes, waitReasons: waits, causes: causes)
    }

    static func section(_ parent: RowID?, _ rows: [NodeRow], total: Int64? = nil) -> TreeSection {
        TreeSection(parent: parent, rows: rows, total: total ?? Int64(rows.count))
    }

    static let mega: Int64 = 1 << 20
    static let giga: Int64 = 1 << 30

    /// The queue of the design's first picture.
    static var example: [TreeSection] {
        let raw = folder(
            1, 2, "raw", .running, { ($0.running, $0.queued, $0.completed) = (3, 240, 569) }, total: 58 * giga,
            sent: 41 * giga, speed: 28 * mega, left: 600)
        let video = folder(
            1, 3, "video", .running, { ($0.waiting, $0.completed) = (1, 13) }, total: 3 * giga, sent: 2 * giga)
        var retry = video
        retry.state = .waiting
        retry.waitReasons = [.backoff]
        retry.retryAt = ScreenHarness.morning.advanced(by: .seconds(12))
        var failed = task(3, 20, "NDA signed (final).pdf", .failed, total: 2 * mega)
        failed.error = TransferError(
            .permissionDenied, "the server refused it", .step("ask who runs it"), httpStatus: 403)
        failed.error?.said = "quota for user exceeded"
        var invoice = task(3, 21, "Invoice 2024-0007.pdf", .failed, total: mega / 2)
        var others = group(3, 5, .failed, 1202, total: 2 * giga)
        (invoice.error, others.error) = (failed.error, failed.error)
        let contracts = folder(3, 5, "contracts", .failed, { $0.failed = 1204 }, total: 2 * giga)
        return [
            section(
                nil,
                [
                    batch(
                        1, "holiday-2024", .running,
                        { ($0.running, $0.queued, $0.waiting, $0.completed) = (3, 240, 1, 582) }, total: 61 * giga,
                        sent: 43 * giga, speed: 28 * mega, left: 600),
                    batch(
                        2, "nas-backup", .paused, { ($0.paused, $0.completed) = (8174, 2114) }, total: 402 * giga,
                        sent: 85 * giga),
                    batch(
                        3, "docs", .running, { ($0.running, $0.failed, $0.completed) = (1, 1204, 85) },
                        total: 35 * giga, sent: 32 * giga, speed: 12 * mega, left: 60),
                ]),
            section(.batch(BatchID(rawValue: 1)), [raw, retry]),
            section(
                raw.id,
                [
                    task(1, 10, "IMG_0412.CR3", .running, total: 71 * mega, sent: 62 * mega, speed: 9 * mega, left: 1),
                    task(1, 11, "IMG_0413.CR3", .running, total: 70 * mega, sent: 24 * mega, speed: 9 * mega, left: 5),
                    task(1, 12, "IMG_0414.CR3", .running, total: 71 * mega, sent: 3 * mega, speed: 9 * mega, left: 7),
                    group(1, 2, .queued, 240, total: 17 * giga),
                    group(1, 2, .completed, 569, total: 40 * giga),
                ]),
            section(
                .batch(BatchID(rawValue: 3)),
                [
                    contracts,
                    folder(
                        3, 6, "handbook", .running, { ($0.running, $0.completed) = (1, 85) }, total: 33 * giga,
                        sent: 32 * giga, speed: 12 * mega, left: 60),
                ]),
            section(
                contracts.id,
                [
                    failed, invoice, others,
                ]),
        ]
    }

    static func totals(_ batches: [NodeRow]) -> QueueTotals {
        var totals = QueueTotals()
        totals.batches = Int64(batches.count)
        for batch in batches {
            for state in TransferState.allCases { totals.counts[state] += batch.counts[state] }
            totals.bytes.total += batch.bytes.total
            totals.bytes.sent += batch.bytes.sent
            totals.bytes.accepted += batch.bytes.accepted
            totals.bytesPerSecondUp += batch.bytesPerSecond
        }
        totals.secondsLeft = batches.compactMap(\.secondsLeft).max()
        totals.problems = totals.counts.failed
        totals.problemCauses = min(1, totals.problems)
        return totals
    }

    static var exampleTotals: QueueTotals {
        var totals = QueueTotals()
        totals.batches = 3
        totals.counts.running = 4
        totals.counts.queued = 240
        totals.counts.waiting = 1
        totals.counts.paused = 8174
        totals.counts.completed = 2783
        totals.counts.failed = 1204
        totals.bytes = ByteCounts(total: 498 * giga, sent: 160 * giga, accepted: 160 * giga, verified: 0)
        totals.bytesPerSecondUp = 41 * mega
        totals.secondsLeft = 600
        (totals.problems, totals.problemCauses) = (1204, 2)
        return totals
    }
}
