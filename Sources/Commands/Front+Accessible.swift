import CommandLine
import Configuration
import DisplayText
import MartletKit

/// The screen as plain lines with numbered choices, for screen readers, braille displays and terminals that can do
/// nothing: no cursor is moved and nothing is drawn over. What is chosen is done by the same commands, and they are
/// said, so that it teaches them.
extension Front {
    /// Until the person leaves, or nothing more comes in.
    func talk() async throws(CommandFailure) -> ExitStatus {
        try await ask { engine throws(RequestError) in try await engine.connect() }
        var talk = LineTalk(units: console.units)
        let (events, feed) = AsyncStream.makeStream(of: LineTalk.Event.self)
        let readLine = surroundings.readLine
        let reader = Task {
            while let line = await readLine() { feed.yield(.line(line)) }
            feed.yield(.end)
        }
        let ticker = surroundings.tickInterval.map { interval in
            Task { while (try? await Task.sleep(for: interval)) != nil { feed.yield(.tick) } }
        }
        defer {
            reader.cancel()
            ticker?.cancel()
        }
        say(talk.greeting(try await look()))
        for await event in events {
            switch event {
            case .end: return .done
            case .tick: say(talk.news(try await look(), now: surroundings.now()))
            case .line(let line):
                let step = talk.take(line, try await look())
                say(step.lines)
                for words in step.commands.map(expanded) {
                    console.line("martlet \(words.map(LineTalk.quoted).joined(separator: " "))".harmless)
                    console.flush()
                    await run(words)
                }
                if step.leaves { return .done }
                say(talk.prompt(try await look()))
            }
        }
        return .done
    }

    /// No shell has seen these words: a path may begin at home.
    private func expanded(_ words: [String]) -> [String] {
        guard let home = surroundings.environment["HOME"] else { return words }
        return words.map { $0 == "~" || $0.hasPrefix("~/") ? home + $0.dropFirst() : $0 }
    }

    private func say(_ lines: [String]) {
        for line in lines { console.line(line.harmless) }
        console.flush()
    }

    private func look() async throws(CommandFailure) -> LineTalk.Sight {
        let batches = try await ask { engine throws(RequestError) in try await engine.batches(session: nil, states: [])
        }
        let totals = try await ask { engine throws(RequestError) in try await engine.totals() }
        return LineTalk.Sight(batches: batches, totals: totals)
    }

    private func run(_ words: [String]) async {
        do throws(CommandFailure) {
            guard case .run(let invocation) = try MartletProgram.program.parse(words.map { Argument($0) }) else {
                return
            }
            _ = await run(invocation)
        } catch {
            console.tell(error, json: false)
        }
    }
}
