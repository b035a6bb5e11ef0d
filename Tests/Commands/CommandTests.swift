import CommandLine
import FoundationEssentials
import LinuxSystem
import MartletKit
import Testing

@testable import Commands

@Suite("Commands ask the engine and print what it says")
struct CommandTests {
    @Test("list fits a terminal of 80 columns and has titles there")
    func listOnTerminal() async {
        var batch = BatchSnapshot.sample(7, .waiting, reasons: [.backoff], failed: 1)
        batch.name = String(repeating: "long name ", count: 9)
        let bench = Bench(FakeEngine { [batch] in $0.batches = [batch] }, width: 80)
        #expect(await bench.run("list") == .done)
        #expect(
            bench.output == """
                ID    State           Files   Size Done   Speed    ETA  Name
                b7    waiting           5/9   1.0G  68%       -      -  long name lo~ long name
                      waits for the next try, 1 failed

                """)
    }

    @Test("an engine that does not answer is named on standard error, and its answer is waited for")
    func silentEngine() async {
        let (silence, engine) = AsyncStream<Void>.makeStream()
        let bench = Bench(
            FakeEngine {
                $0.silence = silence
                $0.batches = [.sample(7, .completed)]
            }, { $0.patience = .zero }, hears: { engine.yield() })
        #expect(await bench.run("list") == .done)
        #expect(bench.error.hasPrefix("the engine has not answered for 0 s; it is waited for a little longer"))
        #expect(bench.output.contains("b7"))
    }

    @Test("list into a pipe has no titles and cuts nothing")
    func listIntoPipe() async {
        var batch = BatchSnapshot.sample(7, .completed)
        batch.name = String(repeating: "x", count: 200) + "\u{1B}[2J"
        let bench = Bench(FakeEngine { [batch] in $0.batches = [batch] })
        #expect(await bench.run("list") == .done)
        #expect(bench.output.hasSuffix(String(repeating: "x", count: 200) + "\\x1b[2J\n"))
        #expect(bench.output.split(separator: "\n").count == 1)
    }

    @Test("list of a batch, of a state and of a folder prints tasks")
    func listTasks() async {
        var other = TaskSnapshot.sample(2, .failed, name: "b.jpg")
        other.folder = "raw/20245"
        other.error = TransferError(.http, "403 Forbidden", httpStatus: 403)
        let engine = FakeEngine { [other] in
            $0.batches = [.sample(7, .running)]
            $0.tasks = [.sample(1, .running), other]
        }
        let all = Bench(engine)
        #expect(await all.run("list", "b7") == .done)
        #expect(
            all.output == """
                t1      running    1000B  45%       -  raw/2024/a.jpg
                t2      failed     1000B  45%       -  raw/20245/b.jpg [403 Forbidden]

                """)
        let failed = Bench(engine)
        #expect(await failed.run("list", "--failed", "--json") == .done)
        let object = try? JSONDecoder().decode(TaskSnapshot.self, from: Data(failed.output.utf8))
        #expect(object == other)
        #expect(await Bench(engine).run("list", "b8") == .noSuchObject)
        #expect(await Bench(engine).run("list", "b7:none") == .noSuchObject)
    }

    @Test("a folder's files are found by the bytes of its path, not by what is shown of it")
    func listHiddenFolder() async {
        let paths = ["a\nb", #"a\x0ab"#].map { RawPath($0) }
        let engine = FakeEngine {
            $0.batches = [.sample(7, .running)]
            for (index, path) in paths.enumerated() {
                var task = TaskSnapshot.sample(Int64(index + 1), .running)
                (task.folder, task.folderBase64) = path.shown
                $0.tasks.append(task)
                let id = NodeID.folder(BatchID(rawValue: 7), path: path)
                $0.nodes[id] = NodeRow(
                    id: .folder(BatchID(rawValue: 7), FolderID(rawValue: Int64(index + 1))), name: "x", state: .running,
                    counts: FileCounts(), bytes: ByteCounts())
            }
        }
        for (index, path) in paths.enumerated() {
            let bench = Bench(engine)
            #expect(
                await bench.run([Argument("list"), Argument(Array("b7:".utf8) + path.bytes), Argument("--json")])
                    == .done)
            #expect(bench.output.split(separator: "\n").count == 1)
            #expect(bench.output.contains("\"id\":\"t\(index + 1)\""))
        }
    }

    @Test("JSON has every key, unknown as null, slashes as they are")
    func jsonKeys() async {
        let bench = Bench(FakeEngine { $0.batches = [.sample(7, .running)] })
        #expect(await bench.run("show", "b7", "--json") == .done)
        #expect(bench.output.contains("\"finishedAt\":null"))
        #expect(bench.output.contains("\"createdAt\":\"2026-11-21T12:41:07.250Z\""))
        #expect(bench.output.contains("\"destination\":\"https://nas/photos/\""))
        let keys = """
            id uuid session name direction state scanning paused priority createdAt finishedAt filesTotal filesCompleted
            filesFailed filesCancelled filesActive filesWaiting bytesTotal bytesSent bytesAccepted bytesVerified
            bytesPerSecond secondsLeft waitReasons causes waits
            """.split(whereSeparator: \.isWhitespace)
        for key in keys { #expect(bench.output.contains("\"\(key)\":"), "\(key)") }
    }

    @Test(
        "with no engine those that only look start none and say so",
        arguments: [["engine", "status"], ["engine", "stop"], ["events"], ["log"]])
    func nothingRuns(words: [String]) async {
        let engine = FakeEngine { $0.isRunning = false }
        let bench = Bench(engine)
        #expect(await bench.run((words + ["--json"]).map { Argument($0) }) == .done)
        #expect(bench.output == "{\"running\":false}\n")
        #expect(!engine.asked.contains("connect"))
    }

    @Test("list starts no engine where nothing was ever queued")
    func listWithoutQueue() async {
        let engine = FakeEngine { $0.isRunning = false }
        let bench = Bench(engine) { $0.queueExists = false }
        #expect(await bench.run("list", "--json") == .done)
        #expect(bench.output == "{\"running\":false}\n")
        #expect(engine.asked == [])
    }

    @Test(
        "where nothing was ever queued, those that look say so", arguments: [["events"], ["list"], ["wait"], ["watch"]])
    func nothingQueued(words: [String]) async {
        let bench = Bench(FakeEngine { $0.isRunning = false }) { $0.queueExists = false }
        #expect(await bench.run(words.map { Argument($0) }) == .done)
        #expect(bench.error == "nothing is queued\n")
        #expect(bench.engine.asked == [])
    }

    @Test("an empty queue is no progress of 0 of 0", arguments: ["wait", "watch"])
    func emptyQueue(command: String) async {
        let bench = Bench()
        #expect(await bench.run(command) == .done)
        #expect(bench.output == "" && bench.error == "nothing is queued\n")
    }

    @Test("who stops what cannot be resumed is told what it costs")
    func price() async {
        var result = NodeResult(id: .task(TaskID(rawValue: 31)), result: .done)
        result.bytesToRepeat = 412 << 20
        let bench = Bench(FakeEngine { [result] in $0.results = [result] })
        #expect(await bench.run("pause", "t31") == .done)
        #expect(await bench.run("cancel", "t31") == .done)
        #expect(
            bench.output == """
                t31 paused; 412M already sent must be sent again: it cannot resume there
                t31 cancelled; 412M already sent are lost: it cannot resume there, and undo sends them again

                """)
        let json = Bench(FakeEngine { [result] in $0.results = [result] })
        #expect(await json.run("pause", "t31", "--json") == .done)
        #expect(json.output.contains("\"bytesToRepeat\":432013312"))
    }

    @Test("who looks after a stop is told that looking sets the work going again")
    func startedByLooking() async {
        let engine = FakeEngine {
            $0.isRunning = false
            $0.totals.counts.queued = 3
        }
        let bench = Bench(engine, progress: true)
        #expect(await bench.run("list") == .done)
        #expect(bench.error == "no engine was running: one is started, and what is queued goes on\n")
        #expect(await bench.run("list") == .done)
        #expect(bench.error.split(separator: "\n").count == 1)
    }

    @Test("a change prints one line for each ID, and the worst is the status")
    func changes() async {
        let results = [
            NodeResult(id: .batch(BatchID(rawValue: 7)), result: .done),
            NodeResult(id: .task(TaskID(rawValue: 3)), result: .already),
            NodeResult(
                id: .task(TaskID(rawValue: 4)), result: .refused, code: .refused, message: "it is over: see show t4"),
        ]
        let bench = Bench(FakeEngine { $0.results = results })
        #expect(await bench.run("pause", "b7", "t3", "t4") == .refused)
        #expect(bench.output == "b7 paused\nt3 was paused already\nt4 refused\n")
        #expect(bench.error == "martlet: t4: it is over: see show t4\n")
        #expect(bench.engine.asked == ["pause b7 t3 t4"])
        let unknown = NodeResult(
            id: .batch(BatchID(rawValue: 9)), result: .refused, code: .noSuchObject, message: "b9 is gone")
        let named = Bench(FakeEngine { $0.results = [unknown] })
        #expect(await named.run("pause", "b9") == .noSuchObject)
        #expect(named.error == "martlet: b9 is gone\n")
        let json = Bench(FakeEngine { $0.results = results + [unknown] })
        #expect(await json.run("cancel", "--json", "b9") == .noSuchObject)
        #expect(json.output.hasPrefix("{\"code\":null,\"id\":\"b7\",\"result\":\"done\"}\n"))
    }

    @Test("selectors reach the engine, and naming nothing or two ways is refused")
    func selectors() async {
        let bench = Bench()
        #expect(await bench.run("retry", "--failed", "--batch", "b7") == .done)
        #expect(await bench.run("resume", "--all") == .done)
        #expect(await bench.run("cancel", "--state", "queued,running") == .done)
        #expect(bench.engine.asked == ["retry b7 [\"failed\"]", "resume * []", "cancel * [\"queued\", \"running\"]"])
        #expect(bench.error.hasSuffix("nothing matches\n"))
        #expect(await bench.run("pause") == .usage)
        #expect(await bench.run("pause", "b7", "--all") == .usage)
        #expect(await bench.run("purge") == .usage)
        #expect(await bench.run("purge", "b7", "--finished") == .usage)
    }

    @Test("events go on behind a cursor, and acknowledging needs a name")
    func events() async {
        var payload = EventPayload()
        payload.bytes = 2048
        let event = TransferEvent(
            seq: EventSequence(rawValue: 12), at: .sample, session: nil, batch: BatchID(rawValue: 7),
            task: TaskID(rawValue: 31), type: .taskCompleted, payload: payload)
        let bench = Bench(FakeEngine { [event] in $0.events = [event] })
        #expect(await bench.run("events", "--after", "3") == .done)
        #expect(bench.output == "12 2026-11-21 12:41:07 task completed b7 t31 2.0K\n")
        #expect(await bench.run("events", "--consumer", "me", "--ack", "12") == .done)
        #expect(bench.engine.asked == ["events 3 -", "acknowledge me 12"])
        #expect(await bench.run("events", "--ack", "12") == .usage)
    }

    @Test("a log line cannot steer the terminal")
    func log() async {
        let bench = Bench()
        #expect(await bench.run("log", "--level", "warning") == .done)
        #expect(bench.output == "2026-11-21 12:41:07 WARNING b7 slow \\x1b[2J\n")
    }

    @Test("a log that does not show all says so, and where the rest is")
    func longLog() async {
        let short = Bench(FakeEngine { $0.logLines = 999 })
        #expect(await short.run("log") == .done)
        #expect(short.error.isEmpty)
        let long = Bench(FakeEngine { $0.logLines = 5000 })
        #expect(await long.run("log", "--json") == .done)
        #expect(long.output.split(separator: "\n").count == 1000)
        #expect(
            long.error
                == "these are the newest 1000 lines, from 2026-11-21 12:41:07 on; for earlier ones: less /state/log/martletd.log*\n"
        )
    }

    @Test("watch prints a line and ends when all is over")
    func watch() async {
        let bench = Bench(FakeEngine { $0.batches = [.sample(7, .completed)] })
        #expect(await bench.run("watch", "b7") == .done)
        #expect(bench.output == "12:41:07 b7 completed 100% 5/5 files 700M of 1.0G\n")
        let all = Bench(
            FakeEngine {
                ($0.totals.batches, $0.totals.unfinished, $0.totals.counts.completed) = (1, 0, 5)
                $0.totals.bytes = ByteCounts(total: 100, sent: 100, accepted: 100, verified: 100)
            })
        #expect(await all.run("watch") == .done)
        #expect(all.output == "12:41:07 1 batch completed 100% 5/5 files 100B of 100B\n")
    }

    @Test("engine stop breaks off what can go on later, and with --now everything")
    func stop() async {
        let bench = Bench()
        #expect(await bench.run("engine", "stop") == .done)
        #expect(bench.engine.asked == ["stop finishingUnresumable"])
        #expect(await bench.run("engine", "stop") == .done)
        #expect(bench.error == "no engine is running\n")
        let hurried = Bench()
        #expect(await hurried.run("engine", "stop", "--now") == .done)
        #expect(hurried.engine.asked == ["stop now"])
    }

    @Test(
        "a stop that has files finished first names them, and how to end the engine at once",
        .timeLimit(.minutes(2)), arguments: [1, 4])
    func stopThatWaits(running: Int64) async {
        let (work, heard) = AsyncStream<Void>.makeStream()
        let bench = Bench(
            FakeEngine { state in
                state.work = work
                state.status = EngineStatus(
                    pid: 7, version: "1", uptime: 2, protocolVersion: "1.0", socket: "/s", queuePath: "/q", sessions: 1,
                    batches: 1, tasksActive: running, tasksWaiting: 0, bytesPerSecondUp: 5, bytesPerSecondDown: 6,
                    residentBytes: 7)
                state.tasks = (1...running).map { .sample($0, .running, name: "\($0).jpg") }
                state.tasks.append(.sample(9, .waiting, name: "waits.jpg"))
            }, { $0.stopPause = .zero }, hears: { heard.yield() })
        #expect(await bench.run("engine", "stop") == .done)
        let path = { "\(TaskSnapshot.sample(1, .running, name: $0).path)" }
        #expect(
            bench.error
                == (running == 1
                    ? """
                    1 running file is finished first, which cannot go on later where it stands (\(path("1.jpg"))): martlet engine stop \
                    --now ends the engine at once and has it sent again; martlet engine start takes the stop back; Ctrl-C leaves it to \
                    stop by itself

                    """
                    : """
                    4 running files are finished first, which cannot go on later where they stand (\(path("1.jpg")), \(path("2.jpg")), \
                    \(path("3.jpg")), ...): martlet engine stop --now ends the engine at once and has them sent again; martlet engine \
                    start takes the stop back; Ctrl-C leaves it to stop by itself

                    """))
        let hurried = Bench(
            FakeEngine {
                $0.status = bench.engine.state.withLock(\.status)
                $0.tasks = [.sample(1, .running)]
            }, { $0.stopPause = .zero })
        #expect(await hurried.run("engine", "stop", "--now") == .done)
        #expect(hurried.error == "" && hurried.engine.asked == ["stop now"])
    }

    @Test("a stop that is taken back is refused, and what took it back says so")
    func stopTakenBack() async {
        let bench = Bench(FakeEngine { $0.takesStopBack = true })
        #expect(await bench.run("engine", "stop") == .refused)
        #expect(bench.error.contains("the engine goes on"))
        let other = Bench(
            FakeEngine {
                $0.status = EngineStatus(
                    pid: 7, version: "1", uptime: 2, protocolVersion: "1.0", socket: "/s", queuePath: "/q", sessions: 1,
                    batches: 2, tasksActive: 3, tasksWaiting: 4, bytesPerSecondUp: 5, bytesPerSecondDown: 6,
                    residentBytes: 7)
                $0.status?.stopping = true
            })
        #expect(await other.run("engine", "start") == .done)
        #expect(other.error == "the engine was about to stop; it goes on\n")
        #expect(other.output.contains(", stops when 3 running files are finished\n"))
        #expect(other.output.contains("Work      2 batches in 1 session\n"))
    }

    @Test("sessions are summed up from their batches")
    func sessions() async throws {
        var other = BatchSnapshot.sample(8, .completed)
        other.session = try #require(SessionName(rawValue: "photos"))
        let bench = Bench(FakeEngine { [other] in $0.batches = [.sample(7, .running), .sample(9, .running), other] })
        #expect(await bench.run("session", "list", "--json") == .done)
        #expect(
            bench.output == """
                {"batches":2,"batchesActive":2,"bytesTotal":2147483648,"filesTotal":16,"limit":null,"name":"default"}
                {"batches":1,"batchesActive":0,"bytesTotal":1073741824,"filesTotal":5,"limit":null,"name":"photos"}

                """)
    }

    @Test("show prints a batch and a task for a person")
    func show() async {
        let engine = FakeEngine {
            $0.batches = [.sample(7, .running)]
            $0.tasks = [.sample(31, .running)]
        }
        let batch = Bench(engine)
        #expect(await batch.run("show", "b7") == .done)
        #expect(batch.output.hasPrefix("b7 photos\nState        running\nSession      default\n"))
        let task = Bench(engine)
        #expect(await task.run("show", "t31") == .done)
        #expect(task.output.contains("From         /home/u/raw/2024/a.jpg\n"))
        #expect(await task.run("show", "b7", "--history") == .usage)
    }

    @Test("show says of a PUT on the server's word alone that nothing was compared, and that it had no temporary name")
    func showTakenOnTrust() async {
        let engine = FakeEngine {
            var task = TaskSnapshot.sample(31, .completed)
            (task.protocol, task.verified, task.answered) = ("put", .none, 201)
            $0.tasks = [task]
        }
        let bench = Bench(engine)
        #expect(await bench.run("show", "t31") == .done)
        #expect(bench.output.contains("Checked      not compared; the server answered 201\n"))
        #expect(bench.output.contains("Name         PUT has no temporary name: "))
    }

    @Test(
        "show says from where and to where, what the server has confirmed, what was sent twice and how it was checked")
    func showWhole() async {
        let long = "/home/u/" + String(repeating: "a-long-way-down/", count: 12) + "photo.jpg"
        let engine = FakeEngine {
            var batch = BatchSnapshot.sample(7, .waiting, reasons: [.hostBackoff])
            (batch.filesTotal, batch.bytesAccepted, batch.bytesVerified) = (2, 0, 300 << 20)
            $0.batches = [batch]
            $0.tasks = (31...32).map { number in
                var task = TaskSnapshot.sample(Int64(number), number == 31 ? .completed : .running)
                if number == 32 { (task.source, task.folder) = (long, "") }
                (task.verified, task.bytesRepeated) = (number == 31 ? .size : .none, 512 << 10)
                return task
            }
            $0.answers = [
                WhyAnswer(
                    id: .batch(batch.id), state: .waiting, waitReasons: [.hostBackoff], since: nil, retryAt: nil,
                    tasks: 1, sentence: "b7 waits: nas cannot be found; next try in 5 s", unblock: "check its name")
            ]
        }
        let batch = Bench(engine)
        #expect(await batch.run("show", "b7") == .done)
        #expect(batch.output.contains("From         /home/u/raw\nFrom         \(long)\n"))
        #expect(batch.output.contains("To           https://nas/photos/\n"))
        #expect(
            batch.output.contains(
                "Bytes        1.0G: 700M sent, not confirmed by the server yet; 300M checked by its size only\n"))
        #expect(batch.output.contains("Sent twice   1.0M\n"))
        #expect(batch.output.contains("Why          b7 waits: nas cannot be found; next try in 5 s\n"))
        let task = Bench(engine)
        #expect(await task.run("show", "t32") == .done)
        #expect(task.output.contains("From         \(long)\n"))
        #expect(task.output.contains("450B sent, the server confirms at the end\n"))
        #expect(task.output.contains("Sent twice   512K\n"))
        // Of a batch with more files than are looked at, the sum says whose it is.
        engine.state.withLock { $0.batches[0].filesTotal = 5000 }
        let large = Bench(engine)
        #expect(await large.run("show", "b7") == .done)
        #expect(large.output.contains("Sent twice   1.0M by the first 2 files; of the others it is not known\n"))
        #expect(large.output.contains("From         and more: martlet list b7\n"))
        // What was queued is known whole, however many files it has, and also what none of the first ones comes from.
        let sources = ["/home/u/raw", "/home/u/last"].map { UploadSource(path: RawPath($0), placement: .contents) }
        let order = BatchRequest(work: .upload(sources, to: "https://nas/photos/"), like: BatchID(rawValue: 7))
        engine.state.withLock { $0.orders[BatchID(rawValue: 7)] = order }
        let ordered = Bench(engine)
        #expect(await ordered.run("show", "b7") == .done)
        #expect(ordered.output.contains("From         /home/u/raw\nFrom         /home/u/last\nTo "))
    }
}
