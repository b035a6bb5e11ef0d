import CommandLine
import Configuration
import DisplayText
import MartletKit

/// The screen as plain lines with numbered choices, for screen readers, braille displays and terminals that can do
/// nothing: no cursor is moved and nothing is drawn over. What is chosen is done by the same commands, and they are
/// said, so that it teaches them. ``LineDialogue`` decides what is said and done, ``LineMenu`` has the choices of one place.
struct LineMode {
    let context: CommandContext
    private var console: Console { context.console }
    private var surroundings: Surroundings { context.surroundings }

    /// Until the person leaves, or nothing more comes in.
    func run() async throws(CommandFailure) -> ExitStatus {
        try await context.ask { engine throws(RequestError) in try await engine.connect() }
        var dialogue = LineDialogue(units: console.units, askLost: surroundings.askLost)
        let (events, feed) = AsyncStream.makeStream(of: LineDialogue.Event.self)
        let readLine = surroundings.readLine
        // A line is read when an answer is wanted, and at no other time: between two answers the keyboard is the command's, which may ask
        // for a password.
        let (questions, wanted) = AsyncStream.makeStream(of: Void.self)
        let reader = Task {
            for await _ in questions {
                guard let line = await readLine() else { break }
                feed.yield(.line(line))
            }
            feed.yield(.end)
        }
        let ticker = surroundings.tickInterval.map { interval in
            Task { while (try? await Task.sleep(for: interval)) != nil { feed.yield(.tick) } }
        }
        defer {
            reader.cancel()
            ticker?.cancel()
        }
        say(dialogue.greeting(try await look()))
        wanted.yield()
        for await event in events {
            switch event {
            case .end: return .done
            case .tick: say(dialogue.news(try await look(), now: surroundings.now()))
            case .line(let line):
                var queue = try await look()
                queue.bytesAtRisk = await bytesAtRisk(dialogue.place)
                let reply = dialogue.answer(line, queue)
                say(reply.lines)
                for words in reply.commands.map(expanded) {
                    let shown = words.map { TransferURL.withoutPassword($0).shellWord }
                    console.line("martlet \(shown.joined(separator: " "))".harmless)
                    console.flush()
                    // The next command counts on this one.
                    if await !run(words.map { Argument($0) }) { break }
                }
                if let elsewhere = reply.elsewhere { await send(elsewhere) }
                if let batch = reply.files { await tellFiles(of: batch) }
                if reply.leaves { return .done }
                say(dialogue.prompt(try await look()))
                wanted.yield()
            }
        }
        return .done
    }

    /// No shell has seen these words: a path may begin at home.
    private func expanded(_ words: [String]) -> [String] {
        guard let home = surroundings.environment["HOME"] else { return words }
        return words.map { $0 == "~" || $0.hasPrefix("~/") ? home + $0.dropFirst() : $0 }
    }

    /// More files than these are better named by the folder they are in.
    private static let mostElsewhere = 2000

    /// Queues what failed of a batch again, for another place, as a batch of its own. What is queued already stays.
    private func send(_ elsewhere: LineDialogue.Elsewhere) async {
        var sources: [Argument] = []
        do throws(CommandFailure) {
            let selector = NodeSelector(batch: elsewhere.batch, states: [.failed])
            try await context.ask(answersLate: true) { engine throws(RequestError) in
                try await engine.eachTask(selector) { sources.append(Argument($0.sourcePath.bytes)) }
            }
        } catch {
            return console.tell(error, json: false)
        }
        guard !sources.isEmpty, sources.count <= Self.mostElsewhere else {
            let why = sources.isEmpty ? "Nothing has failed" : "\(sources.count) files have failed"
            return say(["\(why): queue the folder they are in, with martlet upload FOLDER URL."])
        }
        say(["Queueing \(sources.count) \(sources.count == 1 ? "file" : "files") for \(elsewhere.destination)."])
        let destination = elsewhere.destination
        let end = destination.hasSuffix("/") || destination.hasSuffix(":") || sources.count == 1 ? "" : "/"
        _ = await run([Argument("upload")] + sources + [Argument(destination + end)])
    }

    /// The first files of a batch, and how many more there are.
    private func tellFiles(of batch: BatchID) async {
        do throws(CommandFailure) {
            var told = 0
            for states in LineDialogue.filesFirst where told < LineDialogue.most {
                let selector = NodeSelector(batch: batch, states: states)
                let most = LineDialogue.most - told
                let tasks = try await context.ask { engine throws(RequestError) in
                    try await engine.someTasks(selector, most: most)
                }
                for task in tasks { context.tell(task, context.taskTable, json: false) }
                told += tasks.count
            }
            let all = try await context.ask { engine throws(RequestError) in try await engine.batch(batch).filesTotal }
            if all == 0 { say(["It has no files."]) }
            if all > told { say(["And \(all - Int64(told)) more: martlet list \(batch) lists all."]) }
        } catch {
            console.tell(error, json: false)
        }
        console.flush()
    }

    private func say(_ lines: [String]) {
        for line in lines { console.line(line.harmless) }
        console.flush()
    }

    private func look() async throws(CommandFailure) -> LineDialogue.QueueState {
        let batches = try await context.batches(of: nil)
        let totals = try await context.ask { engine throws(RequestError) in try await engine.totals() }
        let destinations = surroundings.destinationsFile().destinations.map(\.name)
        return LineDialogue.QueueState(batches: batches, totals: totals, destinations: destinations)
    }

    /// Bytes that a pause or a cancel of the current place would throw away.
    private func bytesAtRisk(_ place: LineDialogue.Place) async -> Int64 {
        var nodes: [NodeID] = []
        switch place {
        case .batch(let batch): nodes = [.batch(batch)]
        case .part(let name, _): nodes = NodeID(name).map { [$0] } ?? []
        case .filter(let text):
            let moving = NodeSelector(states: [.running], filter: text)
            try? await context.engine.eachTask(moving) { nodes.append(.task($0.id)) }
        default: break
        }
        var sum: Int64 = 0
        for node in nodes { ByteSum.add((try? await context.engine.node(node))?.bytesAtRisk ?? 0, to: &sum) }
        return sum
    }

    /// Returns true when it was done.
    private func run(_ words: [Argument]) async -> Bool {
        do throws(CommandFailure) {
            guard case .run(let invocation) = try MartletProgram.program.parse(words) else { return false }
            return await context.run(invocation) == .done
        } catch {
            console.tell(error, json: false)
            return false
        }
    }
}
