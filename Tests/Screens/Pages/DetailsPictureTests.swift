import DisplayText
import FoundationEssentials
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("Details tell a file's whole story")
struct DetailsPictureTests {
    private static let morning = ScreenHarness.morning
    private static let mega = Rows.mega

    private func task(_ state: TransferState, sent: Int64) -> TaskSnapshot {
        var task = TaskSnapshot(
            id: TaskID(rawValue: 10), uuid: UUID(), batch: BatchID(rawValue: 1), session: .default, direction: .upload,
            state: state, priority: .normal, name: RawPath("IMG_0412.CR3"), folder: RawPath("raw"),
            source: RawPath("/home/ana/Photos/2024/raw/IMG_0412.CR3"),
            destination: RawPath("s3://photos/2024/raw/IMG_0412.CR3"), bytesTotal: 71 * Self.mega,
            createdAt: Self.morning)
        task.protocol = "s3"
        task.bytesSent = sent
        task.attempts = 2
        task.startedAt = Self.morning
        func at(_ seconds: Int64) -> Timestamp { Self.morning.advanced(by: .seconds(seconds)) }
        task.history = [
            HistoryEntry(time: Self.morning, what: "queued", cause: nil, attempt: nil, message: nil),
            HistoryEntry(
                time: at(1), what: "attempt", cause: .networkConnectionLost, attempt: 1,
                message: "photos broke the connection off: Martlet tries again by itself"),
            HistoryEntry(time: at(7), what: "resumed", cause: nil, attempt: nil, message: "at byte 33554432"),
        ]
        return task
    }

    /// The page of the first file, with what the engine told of it.
    private func page(_ columns: Int, _ rows: Int, _ task: TaskSnapshot, _ row: NodeRow) -> ScreenHarness {
        var screen = ScreenHarness(
            columns, rows,
            [
                Rows.section(nil, [Rows.batch(1, "holiday", .running, { $0.running = 1 })]),
                Rows.section(.batch(BatchID(rawValue: 1)), [row]),
            ])
        screen.press("j", "i")
        screen.answer(StoryRequest.self, .success(task))
        return screen
    }

    private var inParts: (task: TaskSnapshot, row: NodeRow) {
        var task = task(.running, sent: 62 * Self.mega)
        var runs: [PartRun] = []
        for number in 1...9 {
            let bytes = number == 9 ? 7 * Self.mega : 8 * Self.mega
            switch number {
            case 1...5, 7: PartRun.add(.completed, bytes: bytes, sent: bytes, to: &runs)
            case 6: PartRun.add(.running, bytes: bytes, sent: 7 * Self.mega, to: &runs)
            case 8: PartRun.add(.running, bytes: bytes, sent: Self.mega, to: &runs)
            default: PartRun.add(.waiting, bytes: bytes, sent: 0, to: &runs)
            }
        }
        task.parts = runs
        task.bytesTotal = 71 * Self.mega
        let row = Rows.task(
            1, 10, "IMG_0412.CR3", .running, total: 71 * Self.mega, sent: 56 * Self.mega, speed: 9 * Self.mega, left: 2)
        return (task, row)
    }

    @Test("a file that goes in parts shows which are there and how far those are that move")
    func parts() {
        Pictures.expect(page(80, 24, inParts.task, inParts.row).picture, "details-parts-80x24")
        Pictures.expect(page(120, 36, inParts.task, inParts.row).picture, "details-parts-120x36")
        var small = page(40, 10, inParts.task, inParts.row)
        small.press("G")
        Pictures.expect(small.picture, "details-parts-40x10")
    }

    @Test("a file that runs says how fast, since when and until when, what a cut costs and how it is compared")
    func running() {
        var (task, row) = inParts
        task.attempts = 1
        task.modifiedAt = Self.morning.advanced(by: .seconds(-9_575_877))
        task.rules = TaskRules(giveUpAfterSeconds: 14 * 86_400)
        task.attempt = AttemptFigures(
            averageBytesPerSecond: 9 * Self.mega - 800_000, bestBytesPerSecond: 10 * Self.mega + 400_000,
            resumable: true)
        task.history?.removeSubrange(1...)
        Pictures.expect(page(80, 24, task, row).picture, "details-running-80x24")
        Pictures.expect(page(120, 36, task, row).picture, "details-running-120x36")
    }

    @Test("what a server cannot go on with is said as its protocol has it; what nobody knows is left out")
    func resumable() {
        func line(_ change: (inout TaskSnapshot) -> Void, accepted: Int64 = 0) -> String? {
            var (task, row) = inParts
            row.bytes.accepted = accepted
            change(&task)
            return page(80, 24, task, row).lines.first { $0.contains("Resumable") }
        }
        #expect(line { _ in } == nil)
        #expect(line({ _ in }, accepted: 1 << 20)?.contains("yes, from 1.0M") == true)
        #expect(
            line { ($0.protocol, $0.attempt) = ("put", AttemptFigures(resumable: false)) }?
                .contains("no: sent whole each time") == true)
        #expect(
            line { ($0.protocol, $0.attempt) = ("ftp", AttemptFigures(resumable: false)) }?
                .contains("no: this server begins again") == true)
        #expect(
            line { ($0.protocol, $0.attempt) = ("sftp", AttemptFigures(resumable: true)) }?
                .contains("yes, the server is asked") == true)
        #expect(line({ ($0.state, $0.attempt) = (.completed, nil) }, accepted: 1 << 20) == nil)
    }

    @Test("how a file will be compared is said while it runs, and what was given of it is shown in short")
    func checksum() {
        func line(_ rules: TaskRules?, _ change: (inout TaskSnapshot) -> Void = { _ in }) -> String? {
            var (task, row) = inParts
            task.rules = rules
            change(&task)
            return page(80, 24, task, row).lines.first { $0.contains("Checksum") }
        }
        func rules(_ verify: VerificationWish?) -> TaskRules { TaskRules(giveUpAfterSeconds: 60, verify: verify) }
        #expect(line(nil) == nil)
        #expect(line(rules(nil))?.contains("MD5 of each part, remote pending") == true)
        #expect(line(rules(nil)) { $0.protocol = "put" }?.contains("as the server offers, else the size") == true)
        #expect(line(rules(.size))?.contains("the size alone, remote pending") == true)
        #expect(line(rules(VerificationWish.none))?.contains("none is wanted") == true)
        var given = rules(nil)
        given.expects = TransferDigest(algorithm: "sha-256", value: "9f31" + String(repeating: "0", count: 58) + "c2")
        #expect(line(given)?.contains("sha-256 9f31..c2 given, compared at the end") == true)
        #expect(line(rules(nil)) { $0.state = .completed } == nil)
    }

    private var refused: (task: TaskSnapshot, row: NodeRow) {
        var task = task(.failed, sent: 0)
        task.error = TransferError(.http, "photos answered 507", .thenRetry("free space there"), httpStatus: 507)
        task.response = TransferResponse(
            status: 507,
            headers: [
                HeaderField("Content-Type", "application/xml"),
                HeaderField("X-Trace", String(repeating: "0123456789 ", count: 10)),
            ],
            body: "<?xml version=\"1.0\"?>\r\n<Error>\n\t<Code>Quota</Code>\n\u{1B}[2Jgone\u{202E}\n</Error>\n")
        var row = Rows.task(1, 10, "IMG_0412.CR3", .failed, total: 71 * Self.mega)
        row.error = task.error
        return (task, row)
    }

    @Test("at the smallest size, too, what to do about a failure stands first")
    func adviceInSmall() {
        let (task, row) = refused
        #expect(page(40, 12, task, row).picture.contains("What to do"))
        var batch = Rows.batch(1, "holiday", .failed, { $0.failed = 1 })
        batch.error = task.error
        var screen = ScreenHarness(40, 12, [Rows.section(nil, [batch])])
        screen.press("i")
        #expect(screen.picture.contains("What to do"))
    }

    @Test("a batch shows from where and to where, whole, and that its server confirms at the end")
    func ends() {
        var row = Rows.batch(1, "debian-13.2.0-amd64", .failed, { $0.failed = 1 })
        row.path = "/home/ana/Downloads/images/of/installers/for/machines/that/have/no/network/at/all/"
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [row])])
        screen.press("i")
        #expect(screen.asked(SourcesRequest.self).map(\.request.batch) == [BatchID(rawValue: 1)])
        let url = "https://cdimage.example.org/debian-cd/current/amd64/iso-cd/debian-13.2.0-amd64-netinst.iso"
        var download = task(.failed, sent: 0)
        (download.direction, download.source) = (.download, url)
        screen.answer(SourcesRequest.self, .success(NamedSources([download])))
        Pictures.expect(screen.picture, "details-ends-80x24")
        var upload = task(.running, sent: 62 * Self.mega)
        (upload.protocol, upload.bytesRepeated) = ("put", 31 * Self.mega)
        var sending = Rows.task(1, 10, "IMG_0412.CR3", .running, total: 71 * Self.mega, sent: 62 * Self.mega)
        sending.bytes.accepted = 0
        Pictures.expect(page(80, 24, upload, sending).picture, "details-unconfirmed-80x24")
    }

    @Test("what waits for a person does not promise to try again by itself")
    func signIn() {
        var row = Rows.task(1, 10, "notes.txt", .waiting)
        row.waitReasons = [.auth]
        row.error = TransferError(
            .permissionDenied, "nas answered 401 Unauthorized",
            .step("give it a login that it takes, with martlet set"), httpStatus: 401)
        var task = task(.waiting, sent: 0)
        task.error = row.error
        let picture = page(80, 24, task, row).picture
        #expect(picture.contains("auth, needs you: waits for a valid sign-in "))
        #expect(!picture.contains("it is tried again by itself"))
    }

    @Test("the server's answer keeps its lines, and nothing of it reaches the terminal raw")
    func answer() {
        var screen = page(80, 24, refused.task, refused.row)
        screen.press("PgDn")
        Pictures.expect(screen.picture, "details-answer-80x24")
        #expect(!screen.picture.unicodeScalars.contains { $0.value == 0x1B || $0.value == 0x202E })
        var wide = page(120, 36, refused.task, refused.row)
        Pictures.expect(wide.picture, "details-answer-120x36")
        // A page without an end has one here.
        var endless = refused.task
        endless.response?.body = String(repeating: "<br>\n", count: 5000)
        wide = page(120, 36, endless, refused.row)
        wide.press("G")
        #expect(wide.picture.contains("martlet show --response has the rest"))
    }

    @Test("bytes of parts fill the bar where they lie in the file")
    func bar() {
        func runs(_ parts: [(PartRun.State, Int64)]) -> [PartRun] {
            var runs: [PartRun] = []
            for (state, sent) in parts { PartRun.add(state, bytes: 100, sent: sent, to: &runs) }
            return runs
        }
        func bar(_ parts: [PartRun], _ width: Int) -> String { Bar.text(parts, width: width, .ascii).string }
        #expect(bar(runs([(.completed, 100), (.waiting, 0), (.running, 50), (.completed, 100)]), 8) == "##..#.##")
        // What is whole is whole, however the cells fall.
        for width in 1...40 {
            #expect(
                bar(runs(Array(repeating: (.completed, 100), count: 7)), width) == String(repeating: "#", count: width))
            #expect(bar(runs([(.running, 99)]), width).contains("."))
        }
        #expect(bar([], 5) == "")
    }
}
