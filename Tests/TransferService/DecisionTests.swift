import Configuration
import FoundationEssentials
import Glibc
import LinuxSystem
import ServiceWire
import Testing
import TransferEngine
import TransferModel
import Wording

@testable import TransferQueue
@testable import TransferService

/// The pure parts: why, what is dirty, what is logged.
@Suite struct DecisionTests {
    private let node = NodeID.batch(BatchID(rawValue: 7))
    private let now = Timestamp(milliseconds: 1_000_000_000)

    private func why(_ change: (inout NodeStanding) -> Void) -> WhyAnswer {
        var standing = NodeStanding(
            state: .waiting, batch: BatchID(rawValue: 7), counts: FileCounts(), scanning: false, isHeld: false,
            pausedBy: [], notBefore: nil, waitReasons: [], ahead: 0)
        change(&standing)
        return WhySentence(node: node, standing: standing, live: LiveOverlay(), now: now).answer
    }

    @Test(arguments: WaitReason.allCases)
    func `every wait reason has a sentence that names the node, and something to do`(_ reason: WaitReason) {
        let answer = why {
            $0.counts.waiting = 1
            $0.waitReasons = [reason]
            $0.origin = "http://h:80"
            $0.since = now.advanced(by: .seconds(-125))
            $0.retryAt = now.advanced(by: .seconds(12))
        }
        #expect(answer.sentence.hasPrefix("b7 waits "))
        #expect(reason == .notBefore || answer.sentence.contains("(for 2 min)"))
        #expect(answer.sentence.hasSuffix(reason == .notBefore ? ", in 12 s" : "; next try in 12 s"))
        #expect(!answer.unblock.isEmpty)
    }

    @Test func `what was cancelled while it was paused is cancelled, not paused`() {
        let answer = why {
            $0.state = .cancelled
            $0.counts.cancelled = 2
            $0.pausedBy = [node]
        }
        #expect(answer.sentence == "b7 was cancelled")
    }

    @Test func `of a cancelled upload is said from where a retry goes on`() {
        func cancelled(_ seconds: Int64, isLeft: Bool?) -> WhyAnswer {
            why {
                $0.state = .cancelled
                $0.counts.cancelled = 2
                $0.since = now.advanced(by: .seconds(-seconds))
                $0.isLeftAtServer = isLeft
            }
        }
        let inTime = cancelled(4, isLeft: true)
        #expect(inTime.sentence == "b7 was cancelled 4 s ago; what its server has of it is removed in 6 s")
        #expect(
            inTime.unblock.contains("martlet undo b7") && inTime.unblock.contains("goes on where it stood until then"))
        let late = cancelled(60, isLeft: false)
        #expect(late.sentence == "b7 was cancelled 60 s ago" && late.unblock == "martlet retry b7 begins it anew")
        let stuck = cancelled(60, isLeft: true)
        #expect(stuck.sentence.hasSuffix("is still there") && stuck.unblock.contains("martlet leftovers"))
        #expect(cancelled(4, isLeft: nil).unblock == "martlet retry b7", "a download says nothing of servers")
    }

    @Test func `many that wait are counted, and the error is told`() {
        let answer = why {
            $0.counts.waiting = 3
            $0.counts.completed = 5
            $0.waitReasons = [.backoff]
            $0.error = TransferError(.timedOut, "the server did not answer")
        }
        #expect(answer.sentence == "b7: 3 files of 8 wait: the server did not answer")
    }

    @Test func `what is left of a batch in paused folders is resumed by them, not by its files`() {
        let folders = ["raw", "two words"].map { NodeID.folder(BatchID(rawValue: 7), path: RawPath($0)) }
        func paused(_ folders: [NodeID]) -> WhyAnswer {
            why {
                ($0.state, $0.counts.paused, $0.counts.completed) = (.paused, 3, 2)
                $0.pausedBelow = folders
            }
        }
        #expect(paused([folders[0]]).sentence == "b7: what is left of it, 3 files, is paused with a folder of it")
        #expect(paused([folders[0]]).unblock == "martlet resume b7:raw")
        #expect(paused(folders).sentence == "b7: what is left of it, 3 files, is paused with 2 folders of it")
        #expect(paused(folders).unblock.hasPrefix("martlet resume b7:raw "))
        #expect(paused([]).unblock == "martlet resume b7 --state paused")
    }

    @Test func `an answer that a person mends is no time to do nothing, and the remedy is said once`() {
        let answer = why {
            ($0.counts.waiting, $0.waitReasons, $0.retryAt) = (1, [.backoff], now.advanced(by: .seconds(9)))
            $0.error = TransferError(
                .http, "h answered 421 Misdirected Request", .again("check the host in the address"), httpStatus: 421)
        }
        #expect(answer.sentence == "b7 waits: h answered 421 Misdirected Request; next try in 9 s")
        #expect(
            answer.unblock
                == "check the host in the address; it is tried again by itself, martlet retry b7 tries at once unless it asked for a pause"
        )
    }

    @Test func `what holds it is said in the same words as long as it does`() {
        func because(_ seconds: Int64, files: Int64) -> String? {
            why {
                $0.counts.waiting = files
                $0.waitReasons = [.hostBackoff]
                $0.since = now.advanced(by: .seconds(-seconds))
                $0.retryAt = now.advanced(by: .seconds(seconds))
                $0.error = TransferError(.cannotConnectToHost, "nas:9 does not answer", .again("check the address"))
            }
            .because
        }
        #expect(because(4, files: 1) == "nas:9 does not answer: check the address")
        #expect(because(400, files: 9) == because(4, files: 1))
        #expect(
            why {
                $0.counts.waiting = 1
                $0.waitReasons = [.battery]
            }.because == "for mains power")
        #expect(why { $0.counts.queued = 1 }.because == nil)
        #expect(why { $0.pausedBy = [node] }.because == nil)
        #expect(why { $0.state = .failed }.because == nil)
    }

    @Test func `a name that nobody knows is looked at by the person, not by the network`() {
        let answer = why {
            $0.counts.waiting = 1
            $0.waitReasons = [.connectivity]
            $0.error = TransferError(
                .cannotFindHost, "nas.lcoal cannot be found", .again("check the spelling of its name, then the network")
            )
        }
        #expect(answer.sentence == "b7 waits: nas.lcoal cannot be found")
        #expect(answer.unblock.hasPrefix("check the spelling of its name"))
        #expect(answer.unblock.contains("martlet cancel b7"))
    }

    @Test func `what an engine that is about to stop does not start any more says so`() {
        var live = LiveSnapshot()
        live.isStopping = true
        let overlay = LiveOverlay(live, stored: [:]) { [$0] }
        var standing = NodeStanding(
            state: .running, batch: BatchID(rawValue: 7), counts: FileCounts(), scanning: true, isHeld: false,
            pausedBy: [], notBefore: nil, waitReasons: [], ahead: 0)
        let scanning = WhySentence(node: node, standing: standing, live: overlay, now: now).answer
        #expect(scanning.state == .waiting && scanning.waitReasons == [.draining])
        #expect(scanning.sentence.contains("told to stop"))
        #expect(scanning.unblock == "martlet engine start takes that back")
        standing.counts.running = 1
        let running = WhySentence(node: node, standing: standing, live: overlay, now: now).answer
        #expect(running.state == .running && running.waitReasons.isEmpty)
    }

    @Test func `paused comes before held before waiting`() {
        let paused = why {
            $0.pausedBy = [.folder(BatchID(rawValue: 7), path: RawPath("a")), node]
            $0.isHeld = true
            $0.waitReasons = [.auth]
        }
        #expect(paused.sentence == "b7 is paused")
        #expect(paused.unblock == "martlet resume b7:a b7")
        let timed = why {
            $0.pausedBy = [node]
            $0.pauseEnds = now.advanced(by: .seconds(60))
        }
        let end = WallCalendar.ofThisMachine.date(now.milliseconds / 1000 + 60).written
        #expect(timed.sentence == "b7 is paused until \(end)")
        #expect(timed.because == "because it is paused until \(end)", "who waits for it is told")
        #expect(timed.unblock.hasSuffix("at once with martlet resume b7"))
        let held = why {
            $0.isHeld = true
            $0.waitReasons = [.auth]
        }
        #expect(held.unblock == "martlet resume b7")
        #expect(held.sentence.contains("to be held"))
    }

    @Test func `what stands in line says who comes first, what failed says why`() {
        let line = why {
            $0.counts.queued = 2
            $0.ahead = 40
        }
        #expect(line.sentence == "b7 stands in line: 40 files of batches before it come first")
        let failed = why {
            $0.state = .failed
            $0.counts.failed = 1
            $0.error = TransferError(.http, "404 from the server", httpStatus: 404)
        }
        #expect(failed.sentence == "b7 failed: 404 from the server")
        #expect(failed.unblock == "see what it answered, then martlet retry b7")
    }

    /// Of a batch with two files that stand in line, while these run elsewhere.
    private func whyInLine(
        running: Int, of transfers: Int = 2, full: [String: Int] = [:], own: [BatchID: Int] = [:],
        asked: Set<String> = [], ahead: Int64 = 0
    ) -> WhyAnswer {
        var live = LiveSnapshot(
            tasks: (0..<running).map { LiveTask.moving(TaskID(rawValue: Int64($0) + 1), BatchID(rawValue: 1)) })
        (live.full, live.asked) = (full, asked)
        for (batch, most) in own { live.fullPlaces[HostTrouble.Place(batch: batch, origin: "http://h:80")] = most }
        let row = NodeRow(
            id: .task(BatchID(rawValue: 1), TaskID(rawValue: 1)), name: "f", state: .running, counts: FileCounts(),
            bytes: ByteCounts())
        let stored = Dictionary(uniqueKeysWithValues: live.tasks.map { ($0.task, row) })
        var standing = NodeStanding(
            state: .queued, batch: BatchID(rawValue: 7), counts: FileCounts(), scanning: false, isHeld: false,
            pausedBy: [], notBefore: nil, waitReasons: [], ahead: ahead)
        standing.counts.queued = 2
        standing.origin = "http://h:80"
        return WhySentence(
            node: node, standing: standing, live: LiveOverlay(live, stored: stored) { [$0] },
            engine: EngineLimits(transfers: transfers), now: now
        ).answer
    }

    @Test func `what finds a free place is being started, and waits for none`() {
        #expect(whyInLine(running: 0).sentence == "b7 is being started now")
        #expect(whyInLine(running: 1, of: 8, ahead: 6).sentence == "b7 is being started now")
        #expect(whyInLine(running: 1, of: 8, ahead: 7).sentence.hasSuffix("7 files of batches before it come first"))
        #expect(whyInLine(running: 2).sentence.contains("as soon as one of the 2 transfers at once is over, or"))
        #expect(whyInLine(running: 2, ahead: 5).sentence.hasSuffix("5 files of batches before it come first"))
    }

    @Test func `a host that is asked what it can, or takes no more at once, is what is waited for`() {
        let asked = whyInLine(running: 1, full: ["http://h:80": 1], asked: ["http://h:80"])
        #expect(asked.sentence == "b7 starts as soon as http://h:80 has said what it can; it is being asked now")
        let full = whyInLine(running: 1, of: 8, full: ["http://h:80": 1])
        #expect(full.sentence.hasSuffix("as soon as the one transfer at once with http://h:80 is over"))
        #expect(whyInLine(running: 1, of: 8, full: ["http://other:80": 1]).sentence == "b7 is being started now")
        // What answers that it is ill holds up that batch alone.
        let own = whyInLine(running: 1, of: 8, own: [BatchID(rawValue: 7): 4])
        #expect(own.sentence.hasSuffix("as soon as one of the 4 transfers at once with http://h:80 is over"))
        let others = whyInLine(running: 1, of: 8, own: [BatchID(rawValue: 8): 4])
        #expect(others.sentence == "b7 is being started now")
    }

    @Test
    func `causes are counted as a person tells them apart: a name by itself, a server by its port and what it does`() {
        func trouble(_ batch: Int64, _ origin: String, _ code: TransferErrorCode, _ what: String) -> HostTrouble {
            HostTrouble(
                place: .init(batch: BatchID(rawValue: batch), origin: origin), since: now,
                error: TransferError(code, what, .step("look")), isWhole: false, files: 1)
        }
        func causes(_ troubles: [HostTrouble]) -> Int64 {
            var totals = QueueTotals()
            LiveOverlay(LiveSnapshot(), stored: [:], troubles: troubles) { [$0] }.apply(to: &totals, left: 0)
            return totals.problemCauses
        }
        let (nas, far) = ("nas.lcoal cannot be found", "far.lcoal cannot be found")
        let misspelt = [
            trouble(7, "http://nas.lcoal:80", .cannotFindHost, nas),
            trouble(7, "http://nas.lcoal:81", .cannotFindHost, nas),
        ]
        #expect(causes(misspelt) == 1)
        #expect(causes(misspelt + [trouble(8, "http://far.lcoal:80", .cannotFindHost, far)]) == 2)
        let refused = [80, 81].map { trouble(7, "http://nas:\($0)", .cannotConnectToHost, "it does not answer") }
        #expect(causes(refused) == 2 && causes(misspelt + refused) == 3)
    }

    @Test func `of thousands of servers a batch tells those that most files wait for, and counts the others`() {
        let batch = BatchID(rawValue: 7)
        let troubles = (1...5000).map { number in
            HostTrouble(
                place: .init(batch: batch, origin: "http://h\(number):80"), since: now,
                error: TransferError(.cannotConnectToHost, "h\(number) does not answer", .again), isWhole: false,
                files: Int64(number))
        }
        var snapshot = BatchSnapshot(
            id: batch, uuid: UUID(), session: .default, name: "many", direction: .download, state: .running,
            scanning: false, paused: false, priority: .normal, createdAt: now, finishedAt: nil, destination: "/in",
            counts: FileCounts(), bytes: ByteCounts(), waitReasons: [], causes: [])
        LiveOverlay(LiveSnapshot(), stored: [:], troubles: troubles) { [$0] }.apply(to: &snapshot)
        #expect(snapshot.waits.count == 101)
        #expect(snapshot.waits.first?.server == "h5000" && snapshot.waits.first?.count == 5000)
        #expect(snapshot.waits.reduce(0) { $0 + $1.count } == 5000 * 5001 / 2)
        #expect(
            snapshot.waits.last?.message == "4900 more servers do not answer or refuse service"
                && snapshot.waits.last?.server == nil)
    }

    @Test func `a server that serves nothing is named with what to see to, also while one file feels for it`() {
        let error = TransferError(.cannotConnectToHost, "nas:9 does not accept the connection", .again)
        var live = LiveSnapshot(tasks: [LiveTask.moving(TaskID(rawValue: 1), BatchID(rawValue: 7))])
        live.tasks[0].bytesPerSecond = 0
        let row = NodeRow(
            id: .task(BatchID(rawValue: 7), TaskID(rawValue: 1)), name: "f", state: .running, counts: FileCounts(),
            bytes: ByteCounts())
        func why(_ retryAt: Timestamp?, active: Int64) -> WhyAnswer {
            let trouble = HostTrouble(
                place: .init(batch: BatchID(rawValue: 7), origin: "http://nas:9"), since: now, retryAt: retryAt,
                error: error, isWhole: true, files: 12)
            var standing = NodeStanding(
                state: .waiting, batch: BatchID(rawValue: 7), counts: FileCounts(), scanning: false, isHeld: false,
                pausedBy: [], notBefore: nil, waitReasons: [.hostBackoff], ahead: 0)
            (standing.counts.waiting, standing.counts.running) = (12 - active, active)
            (standing.origin, standing.error, standing.retryAt) = ("http://nas:9", error, retryAt)
            let overlay = LiveOverlay(live, stored: [TaskID(rawValue: 1): row], troubles: [trouble]) { [$0] }
            return WhySentence(node: node, standing: standing, live: overlay, now: now).answer
        }
        let cure =
            "see whether the server is running, and check its host and port; it is tried again by itself, "
            + "martlet retry b7 tries at once"
        let waiting = why(now.advanced(by: .seconds(9)), active: 0)
        #expect(waiting.sentence == "b7: 12 files of 12 wait: nas:9 does not accept the connection; next try in 9 s")
        #expect(waiting.unblock == cure)
        let felt = why(nil, active: 1)
        #expect(felt.sentence == "b7: 12 files wait: nas:9 does not accept the connection; it is tried again now")
        #expect(felt.unblock == cure && felt.because == "nas:9 does not accept the connection")
    }

    @Test func `another login is advised only where the server refused one`() {
        func unblock(_ remedy: Remedy?) -> String {
            why {
                $0.counts.waiting = 1
                ($0.waitReasons, $0.origin) = ([.auth], "https://h:443")
                $0.error = TransferError(.http, "h answered 407", remedy, httpStatus: 407)
            }.unblock
        }
        #expect(unblock(.thenRetry("give the proxy's login")) == "give the proxy's login, then martlet retry b7")
        #expect(unblock(.queued("queue it again")) == "queue it again")
        #expect(unblock(.login()).hasPrefix("martlet set b7 --header"))
    }

    @Test func `people are told names, with the ID behind them`() {
        let (task, batch) = (NodeID.task(TaskID(rawValue: 31)), BatchID(rawValue: 7))
        let folder = NodeID.folder(batch, path: RawPath("raw"))
        var standing = NodeStanding(
            state: .paused, batch: batch, counts: FileCounts(), scanning: false, isHeld: false,
            pausedBy: [folder, .batch(batch)], notBefore: nil, waitReasons: [], ahead: 0)
        let names: [NodeID: String] = [task: "film.mkv", folder: "raw/", .batch(batch): "vids"]
        func sentence(_ node: NodeID) -> String {
            WhySentence(node: node, standing: standing, names: names, live: LiveOverlay(), now: now).answer.sentence
        }
        #expect(
            sentence(task)
                == "\"film.mkv\" (t31) is paused because its folder \"raw/\" (b7) and its batch \"vids\" (b7) are")
        standing.pausedBy = [.batch(batch)]
        #expect(sentence(task) == "\"film.mkv\" (t31) is paused because its batch \"vids\" (b7) is")
        #expect(sentence(.batch(batch)) == "\"vids\" (b7) is paused")
    }

    @Test func `where a file goes is said whole, whatever arrows its name has`() {
        let task = TaskID(rawValue: 31)
        var file = NodeRow(
            id: .task(BatchID(rawValue: 7), task), name: "a -> b", state: .running, counts: FileCounts(),
            bytes: ByteCounts(total: 9, sent: 5, accepted: 0))
        file.source = RawPath("/home/ana/a -> b")
        file.path = "/home/ana/a -> b -> https://h/in/a -> b"
        var standing = NodeStanding(
            state: .running, batch: BatchID(rawValue: 7), counts: FileCounts(), scanning: false, isHeld: false,
            pausedBy: [], notBefore: nil, waitReasons: [], ahead: 0)
        standing.counts.running = 1
        let sentence = WhySentence(
            node: .task(task), standing: standing, file: file, live: LiveOverlay(), now: now
        ).answer.sentence
        #expect(sentence.hasPrefix("t31 goes to https://h/in/a -> b: 5B of 9B"))
    }

    @Test func `what the server said ends the sentence, marked as its own words`() {
        var error = TransferError(.http, "h answered 403 Forbidden", .step("ask for access there"), httpStatus: 403)
        error.said = "quota for user exceeded"
        let failed = why {
            $0.state = .failed
            ($0.counts.failed, $0.error) = (1, error)
        }
        #expect(
            failed.sentence
                == "b7 failed: h answered 403 Forbidden; the server said \"quota for user exceeded\"")
        let waits = why {
            ($0.counts.waiting, $0.waitReasons, $0.error) = (1, [.auth], error)
        }
        #expect(waits.sentence.hasSuffix("(h answered 403 Forbidden); the server said \"quota for user exceeded\""))
    }

    @Test func `the log's line of a failure ends with what the server said`() throws {
        let directory = "/tmp/martlet-log-\(try System.randomBytes(6).map { String($0, radix: 16) }.joined())"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let log = EngineLog(directory: directory, now: { now })
        var payload = EventPayload()
        payload.error = TransferError(
            .permissionDenied, "h answered 403", .step("ask for access there"), httpStatus: 403)
        payload.error?.said = "quota exceeded"
        log.write(
            TransferEvent(
                seq: EventSequence(rawValue: 1), at: now, session: nil, batch: BatchID(rawValue: 7), task: nil,
                type: .taskFailed, payload: payload))
        let line = log.read(level: .error, batch: nil, task: nil, after: nil, limit: 1).lines.first
        #expect(
            line?.message == "failed: h answered 403: ask for access there; the server said \"quota exceeded\"")
    }

    @Test func `spans of time read as people write them`() {
        #expect(WhySentence.span(.seconds(5)) == "5 s")
        #expect(WhySentence.span(.seconds(90)) == "1 min")
        #expect(WhySentence.span(.seconds(5400)) == "1 h 30 min")
        #expect(WhySentence.span(.seconds(172_800)) == "2 d")
        #expect(WhySentence.span(.seconds(180_000)) == "2 d 2 h")
        #expect(WhySentence.span(.seconds(-5)) == "0 s")
    }

    @Test func `a view looks again only at what a change can have touched`() throws {
        let (b1, b2) = (BatchID(rawValue: 1), BatchID(rawValue: 2))
        let folder = FolderID(rawValue: 5)
        var view = try ServiceView(
            ViewRequest(
                sections: [
                    SectionRequest(parent: nil, limit: 5), SectionRequest(parent: .batch(b1), limit: 5),
                    SectionRequest(parent: .folder(b1, folder), limit: 5),
                ], nodes: [.batch(b2)]))
        func taken() -> Set<ServiceView.Part> {
            view.beginTurn()
            return Set(view.takeDue())
        }
        #expect(taken().count == 4)
        #expect(!view.isDirty)
        var change = QueueChange()
        change.batches = [b1]
        view.note(change)
        #expect(taken() == [.section(nil), .section(.batch(b1))])
        change.folders = [folder]
        view.note(change)
        #expect(taken() == [.section(nil), .section(.batch(b1)), .section(.folder(b1, folder))])
        change = QueueChange()
        change.removed = [b1]
        view.note(change)
        #expect(taken().contains(.section(.folder(b1, folder))))
        view.noteLive(batches: [b2], folders: [], tasks: [])
        #expect(taken() == [.section(nil), .node(.batch(b2))])
    }

    @Test func `a turn looks at each part once, the root first, so many rows at a time`() throws {
        let batches = (1...4).map { RowID.batch(BatchID(rawValue: $0)) }
        var view = try ServiceView(
            ViewRequest(
                sections: [SectionRequest(parent: nil, limit: 300)]
                    + batches.map { SectionRequest(parent: $0, limit: 400) }, totals: true))
        #expect(view.rows == 1900)
        view.beginTurn()
        #expect(view.takeDue() == [.totals, .section(nil), .section(batches[0])])
        view.noteEverything()
        #expect(view.takeDue() == [.section(batches[1]), .section(batches[2])])
        #expect(view.takeDue() == [.section(batches[3])])
        #expect(view.takeDue().isEmpty && !view.isDue && view.isDirty, "what changed meanwhile is of the next turn")
        view.beginTurn()
        #expect(view.takeDue().first == .totals)
    }

    @Test func `a view sends a part once until it looks different`() throws {
        var view = try ServiceView(ViewRequest(sections: [SectionRequest(parent: nil, limit: 5)], totals: true))
        var looked = LookedAt()
        looked.sections = [(nil, TreeSection(parent: nil, rows: [], total: 0))]
        looked.totals = QueueTotals()
        #expect(view.change(of: looked)?.sections.count == 1)
        #expect(view.change(of: looked) == nil)
        looked.totals?.batches = 1
        let change = view.change(of: looked)
        #expect(change?.sections == [] && change?.totals?.batches == 1)
    }

    @Test func `the log keeps its newest lines, filters them, and goes on in its file after a restart`() throws {
        let directory = "/tmp/martlet-log-\(try System.randomBytes(6).map { String($0, radix: 16) }.joined())"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let log = EngineLog(directory: directory, sizeLimit: 20_000, now: { now })
        for number in 0..<1000 {
            log.write(number % 2 == 0 ? .info : .error, "line \(number)", batch: BatchID(rawValue: 1))
        }
        for number in 0..<5000 { log.write(.debug, "detail \(number)") }
        log.write(.warning, "bad \u{1b}[2J name\n2", task: TaskID(rawValue: 3))
        let all = log.read(level: .info, batch: nil, task: nil, after: nil, limit: 2)
        #expect(all.lines.map(\.message) == ["line 999", "bad \\x1b[2J name\\x0a2"])
        let details = log.read(level: .debug, batch: nil, task: nil, after: nil, limit: 3)
        #expect(details.lines.map(\.message) == ["detail 4998", "detail 4999", "bad \\x1b[2J name\\x0a2"])
        let oldest = log.read(level: .debug, batch: nil, task: nil, after: .min, limit: 1)
        #expect(oldest.lines.map(\.message) == ["line 0"], "details push nothing out")
        let errors = log.read(level: .error, batch: BatchID(rawValue: 1), task: nil, after: 1, limit: 3)
        #expect(errors.lines.map(\.message) == ["line 1", "line 3", "line 5"])
        let next = log.read(level: .error, batch: BatchID(rawValue: 1), task: nil, after: errors.next, limit: 1)
        #expect(next.lines.map(\.message) == ["line 7"])
        #expect(log.read(level: .info, batch: nil, task: nil, after: all.next, limit: 9).lines.isEmpty)
        for name in ["", ".1", ".2"] {
            #expect(try System.stat(Array("\(directory)/martletd.log\(name)".utf8)).size <= 20_000)
        }
        let again = EngineLog(directory: directory, now: { now })
        #expect(
            again.read(level: .debug, batch: nil, task: nil, after: nil, limit: 1).lines == Array(all.lines.suffix(1)))
        again.write(.debug, "in memory")
        again.keepsDetails = true
        again.write(.debug, "in the file")
        let third = EngineLog(directory: directory, now: { now })
        #expect(
            third.read(level: .debug, batch: nil, task: nil, after: nil, limit: 2).lines.map(\.message)
                == ["bad \\x1b[2J name\\x0a2", "in the file"])
    }

    @Test func `a log whose new file cannot be opened goes on in the old one, and begins the new one later`() throws {
        let directory = "/tmp/martlet-log-\(try System.randomBytes(6).map { String($0, radix: 16) }.joined())"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        func file(_ name: String) -> String {
            FileManager.default.contents(atPath: "\(directory)/\(name)").map { String(decoding: $0, as: UTF8.self) }
                ?? ""
        }
        let log = EngineLog(directory: directory, sizeLimit: 200, now: { now })
        let target = ForcedFailures.Target.path(containing: directory)
        ForcedFailures.fail(.open, on: target, with: Errno(rawValue: EMFILE), times: .max)
        for number in 0..<10 { log.write(.info, "line \(number).") }
        ForcedFailures.clear(target)
        #expect((0..<10).allSatisfy { file("martletd.log").contains("line \($0).") })
        log.write(.info, "line 10.")
        #expect(file("martletd.log").contains("line 10.") && !file("martletd.log").contains("line 9."))
        #expect(file("martletd.log.1").contains("line 9.") && file("martletd.log.new").isEmpty)
    }

    @Test func `a log whose file could not be opened at the start begins it with a later line`() throws {
        let directory = "/tmp/martlet-log-\(try System.randomBytes(6).map { String($0, radix: 16) }.joined())"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let target = ForcedFailures.Target.path(containing: "\(directory)/martletd.log")
        ForcedFailures.fail(.open, on: target, with: Errno(rawValue: EMFILE), times: .max)
        let log = EngineLog(directory: directory, now: { now })
        log.write(.info, "early")
        ForcedFailures.clear(target)
        log.write(.info, "late")
        let bytes = try #require(FileManager.default.contents(atPath: "\(directory)/martletd.log"))
        #expect(String(decoding: bytes, as: UTF8.self).hasSuffix("late\n"))
    }

    @Test func `of failures of one cause in one batch the first is told, and the others are counted now and then`() {
        var runs = FailureRuns()
        func cause(_ batch: Int64, _ status: Int?) -> FailureRuns.Cause {
            .init(batch: BatchID(rawValue: batch), code: status == nil ? .sourceMissing : .http, status: status)
        }
        func at(_ seconds: Int64) -> Timestamp { now.advanced(by: .seconds(seconds)) }
        func isFirst(_ batch: Int64, _ status: Int?, at seconds: Int64) -> Bool {
            runs.isFirst(cause(batch, status), at: at(seconds))
        }
        func told(at seconds: Int64) -> [String] { runs.due(at(seconds)).map(\.message) }
        #expect(isFirst(1, 403, at: 0))
        #expect(told(at: 60) == [] && runs.next == nil, "one is told whole")
        for _ in 0..<1203 { #expect(!isFirst(1, 403, at: 1)) }
        #expect(isFirst(1, 404, at: 1) && isFirst(2, 403, at: 1) && isFirst(1, nil, at: 1))
        #expect(told(at: 9) == [] && runs.next == at(10))
        #expect(told(at: 10) == ["1203 more files stopped for the same cause (answered 403)"])
        #expect(told(at: 60) == [], "each is counted once")
        #expect(!isFirst(1, 403, at: 61) && !isFirst(2, 403, at: 61))
        let ended = runs.end(of: BatchID(rawValue: 1)).map(\.message)
        #expect(ended == ["1 more file stopped for the same cause (answered 403)"])
        #expect(isFirst(1, 403, at: 62), "whoever tries it again begins anew")
        for batch in 10..<5000 as Range<Int64> { #expect(isFirst(batch, nil, at: 70)) }
        #expect(!isFirst(2, 403, at: 71), "what is still to be told is kept")
    }

    @Test
    func `of waits for one cause the first is told and the others are counted, and what comes later is told again`() {
        var runs = FailureRuns()
        func event(_ type: TransferEventType, _ task: Int64?, _ error: TransferError?, _ waits: [WaitReason])
            -> FailureRuns.Cause?
        {
            var payload = EventPayload()
            (payload.error, payload.waitReasons) = (error, waits)
            return FailureRuns.Cause(
                TransferEvent(
                    seq: EventSequence(rawValue: 1), at: now, session: .default, batch: BatchID(rawValue: 1),
                    task: task.map { TaskID(rawValue: $0) }, type: type, payload: payload))
        }
        let denied = TransferError(.http, "nas refused the password", httpStatus: 401)
        guard let auth = event(.waiting, 1, denied, [.auth]), let metered = event(.waiting, 1, nil, [.metered]),
            let failed = event(.taskFailed, 1, denied, [])
        else { return #expect(Bool(false), "all are causes") }
        #expect(event(.resumed, 1, nil, []) == nil && event(.waiting, nil, nil, [.metered]) == nil)
        func at(_ seconds: Int64) -> Timestamp { now.advanced(by: .seconds(seconds)) }
        func isFirst(_ cause: FailureRuns.Cause, at seconds: Int64) -> Bool { runs.isFirst(cause, at: at(seconds)) }
        for cause in [auth, metered, failed] { #expect(isFirst(cause, at: 0)) }
        for _ in 0..<299 { #expect(!isFirst(auth, at: 1)) }
        #expect(!isFirst(metered, at: 1))
        let told = runs.due(at(11)).map(\.message)
        #expect(
            told == [
                "299 more waits for the same cause (answered 401)",
                "1 more wait for the same cause (\([WaitReason.metered].words))",
            ])
        #expect(!isFirst(auth, at: 12), "the same burst still")
        _ = runs.due(at(22))
        #expect(isFirst(auth, at: 32), "tried again and refused again")
        #expect(!isFirst(auth, at: 33))
        let goesOn = runs.endWaits(of: BatchID(rawValue: 1)).map(\.message)
        #expect(goesOn == ["1 more wait for the same cause (answered 401)"])
        #expect(isFirst(auth, at: 34), "another login was given, and is refused")
        #expect(!isFirst(failed, at: 32), "what failed stays so")
    }

    @Test func `a waiting batch with no counts is not written as over`() {
        let answer = why { $0.scanning = true }
        #expect(answer.sentence.contains("looked through"))
    }
}

extension LiveTask {
    /// Something that moves.
    fileprivate static func moving(_ task: TaskID, _ batch: BatchID) -> LiveTask {
        LiveTask(
            task: task, batch: batch, folder: FolderID(rawValue: 1), direction: .upload, state: .running, bytesTotal: 9,
            bytesSent: 1, bytesAccepted: 0, bytesRepeated: 0, bytesPerSecond: 1, secondsLeft: 8, isStalled: false)
    }
}
