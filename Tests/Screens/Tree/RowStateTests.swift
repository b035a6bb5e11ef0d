import DisplayText
import MartletKit
import Testing

@testable import TerminalUI

@Suite("A row's state is a sign, a word and a colour")
struct RowStateTests {
    private func row(
        _ state: TransferState, _ reasons: [WaitReason] = [],
        id: RowID = .task(BatchID(rawValue: 1), TaskID(rawValue: 1))
    ) -> NodeRow {
        var counts = FileCounts()
        counts[state] = 1
        var row = NodeRow(id: id, name: "x", state: state, counts: counts, bytes: ByteCounts())
        row.waitReasons = reasons
        return row
    }

    @Test("what a person should do decides the word of a waiting task")
    func waiting() {
        #expect(RowState(row(.waiting, [.backoff])) == .retry)
        #expect(RowState(row(.waiting, [.hostBackoff])) == .retry)
        #expect(RowState(row(.waiting, [.connectivity])) == .queued)
        #expect(RowState(row(.waiting, [.backoff, .auth])) == .auth)
        #expect(RowState(row(.waiting, [.hostKey])) == .auth)
        #expect(RowState(row(.created)) == .held)
        #expect(RowState(row(.finishing)) == .checking)
    }

    @Test("a batch that is only listed or only stands in line does not claim to run")
    func groups() {
        var batch = row(.running, id: .batch(BatchID(rawValue: 1)))
        #expect(RowState(batch) == .running)
        batch.counts = FileCounts()
        batch.counts.queued = 5
        #expect(RowState(batch) == .queued)
        batch.scanning = true
        #expect(RowState(batch) == .scanning)
    }

    @Test("of a pause that ends by itself the row says when: the time today, later the day")
    func pausedUntil() {
        var screen = ScreenHarness(80, 24)
        screen.connect()
        var (today, later) = (Rows.batch(1, "today", .paused, total: 9), Rows.batch(2, "later", .paused, total: 9))
        today.pausedUntil = ScreenHarness.morning.advanced(by: .seconds(7200))
        later.pausedUntil = ScreenHarness.morning.advanced(by: .seconds(3 * 86_400))
        screen.news([Rows.section(nil, [today, later])])
        #expect(screen.lines.first { $0.contains("today") }?.contains("14:41 pause") == true)
        #expect(screen.lines.first { $0.contains("later") }?.contains("11-24 pause") == true)
    }

    @Test("a batch of which all that is left is being checked says so, and not that it runs")
    func checking() {
        var batch = row(.running, id: .batch(BatchID(rawValue: 1)))
        batch.counts = FileCounts()
        (batch.counts.completed, batch.counts.finishing) = (3, 2)
        #expect(RowState(batch) == .checking)
        batch.counts.queued = 1
        #expect(RowState(batch) == .running, "there is more to send")
        // The engine says that they run, and every byte of them is sent.
        let sent = Rows.batch(1, "photos", .running, { ($0.completed, $0.running) = (3, 2) }, total: 120, sent: 120)
        let sending = Rows.batch(2, "docs", .running, { ($0.queued, $0.running) = (3, 2) }, total: 120, sent: 120)
        let screen = ScreenHarness(80, 24, [Rows.section(nil, [sent, sending])])
        #expect(screen.model.state(of: sent) == .checking && screen.model.state(of: sending) == .running)
    }

    @Test("a skipped file does not look like a sent one")
    func skipped() {
        var task = row(.completed)
        #expect(RowState(task) == .done)
        task.skipped = true
        #expect(RowState(task) == .skipped)
    }

    @Test(
        "what is completed and cancelled in part is neither done nor cancelled, never 100 %, and tells how much is not there"
    )
    func cancelledInPart() throws {
        func counts(_ counts: inout FileCounts) { (counts.completed, counts.cancelled) = (10, 2) }
        let batch = Rows.batch(1, "photos", .completed, counts, total: 120, sent: 100)
        let folder = Rows.folder(1, 7, "raw", .completed, counts, total: 120, sent: 100)
        #expect(RowState(batch) == .partly && RowState(folder) == .partly)
        #expect(RowState(row(.cancelled)) == .cancelled)
        var all = row(.cancelled, id: .batch(BatchID(rawValue: 1)))
        all.counts.cancelled = 12
        #expect(RowState(all) == .cancelled)
        let sections = [Rows.section(nil, [batch]), Rows.section(batch.id, [folder])]
        var screen = ScreenHarness(100, 30, sections)
        screen.press("l")
        screen.news(sections)
        for name in [" photos ", " raw/ "] {
            let line = try #require(screen.lines.first { $0.contains(name) }, "\(screen.picture)")
            #expect(line.contains("part") && line.contains("83%") && line.contains("2 cancelled"), "\(line)")
        }
        screen.press("i")
        #expect(screen.picture.contains("12: 10 completed, 2 cancelled"))
    }

    @Test("a folder of which nothing is sent is not done; one that is still listed may have something")
    func leftOut() {
        var folder = row(.completed, id: .folder(BatchID(rawValue: 1), FolderID(rawValue: 2)))
        folder.counts = FileCounts()
        #expect(RowState(folder) == .leftOut)
        folder.scanning = true
        #expect(RowState(folder) == .done)
        folder.scanning = false
        folder.counts.completed = 1
        #expect(RowState(folder) == .done)
        var task = row(.completed)
        task.counts = FileCounts()
        #expect(RowState(task) == .done, "a file is one")

        let empty = Rows.folder(1, 7, "empty", .completed)
        let screen = ScreenHarness(
            80, 24,
            [
                Rows.section(nil, [Rows.batch(1, "photos", .running, { $0.running = 1 }, total: 10)]),
                Rows.section(.batch(BatchID(rawValue: 1)), [empty]),
            ])
        let line = screen.lines.first { $0.contains("empty/") }
        #expect(line?.contains(" out") == true && line?.contains("%") == false, "\(line ?? "")")
    }

    @Test("trouble below shows on everything above it while the rest goes on")
    func trouble() {
        var batch = row(.running, id: .batch(BatchID(rawValue: 1)))
        #expect(!batch.hasTroubleBelow)
        batch.counts.failed = 1
        #expect(batch.hasTroubleBelow)
        batch.state = .failed
        #expect(!batch.hasTroubleBelow, "it has failed itself now")
        batch = row(.waiting, [.auth], id: .batch(BatchID(rawValue: 1)))
        #expect(batch.hasTroubleBelow)
        #expect(!row(.waiting, [.auth]).hasTroubleBelow)
    }

    @Test("signs are one cell wide and different, words fit their column", arguments: GlyphSet.allCases)
    func table(set: GlyphSet) {
        let signs = RowState.allCases.map { $0.sign(set) }
        #expect(Set(signs).count == signs.count)
        for state in RowState.allCases {
            #expect(Glyph(state.sign(set)).width == 1 && !Glyph(state.sign(set)).isSubstitute)
            #expect(state.word.utf8.count <= 5 && state.longWord.utf8.count <= 6)
            if set == .ascii { #expect(state.sign(set).isASCII) }
        }
        #expect(Set(RowState.allCases.map(\.word)).count == RowState.allCases.count)
    }
}
