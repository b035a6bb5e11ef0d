import CommandLine
import Configuration
import MartletKit

/// `martlet limit`: the limits of the whole engine and of hosts.
struct LimitCommand: EngineCommand {
    let context: CommandContext

    static let up = Option.flag("up", "only what is sent")
    static let down = Option.flag("down", "only what is received")
    static let transfersAtOnce = Option(
        "transfers", ValueSyntax<Int>.count(1...256), "files moved at the same time")
    static let transfersPerHost = Option(
        "per-host", ValueSyntax<Int>.count(1...256), "of these, at most so many to or from one host")
    static let host = Option(
        "host", ValueSyntax<String>.text("HOST"), "instead, limit everything to and from this host (nas.example[:443])")

    static let command = Command(
        "limit", "show or change the limits of the whole engine",
        details: [
            "RATE is bytes a second (512K, 8M) or off; a TIMETABLE is rclone's: 08:00,512K 18:00,off is slow by day and free by "
                + "night, Mon-08:00,512K Sat-00:00,off leaves the weekend free. Limits hold at once, for what runs, too, and are "
                + "kept when the engine ends. Without RATE it only shows what holds."
        ],
        operands: [Operand(ValueSyntax<String>.text("RATE|TIMETABLE"), .any)],
        operandForm: "[RATE|TIMETABLE]",
        groups: [
            OptionGroup("Which", [up, down, transfersAtOnce, transfersPerHost, host]), CommonOptions.output,
        ],
        examples: [
            .init(line: "martlet limit 2M --up", effect: "Send at most two megabytes a second"),
            .init(line: "martlet limit '08:00,512K 18:00,off'", effect: "Slow by day, free by night"),
            .init(line: "martlet limit --transfers 2", effect: "Two files at a time"),
        ])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let wish = try wish(invocation)
        if wish == LimitsWish(), try await !context.engineToLookAt(invocation) { return .done }
        let limits = try await ask { engine throws(RequestError) in
            wish == LimitsWish() ? try await engine.limits() : try await engine.setLimits(wish)
        }
        context.tell(limits, invocation)
        return .done
    }

    private func wish(_ invocation: Invocation) throws(CommandFailure) -> LimitsWish {
        var wish = LimitsWish(
            transfers: invocation.value(Self.transfersAtOnce),
            transfersPerHost: invocation.value(Self.transfersPerHost))
        let (up, down) = (invocation.has(Self.up), invocation.has(Self.down))
        let host = invocation.value(Self.host)
        // Quoted or not, a timetable is one.
        let text = invocation.operands.compactMap(\.text).joined(separator: " ")
        guard !invocation.operands.isEmpty else {
            if up || down || host != nil {
                throw .usage("limit: no rate is given", "give one such as 512K, or off to take the limit away")
            }
            return wish
        }
        guard let table = RateTimetable(text) else {
            throw .usage(
                "limit: \"\(ShownAddress.of(text))\" is neither a rate nor a timetable",
                "give \(ValueSyntax<RateTimetable>.timetable.allowed)")
        }
        guard let host else {
            if up || !down { wish.up = table.written }
            if down || !up { wish.down = table.written }
            return wish
        }
        guard table.isConstant else {
            throw .usage("limit: only the whole engine follows a timetable", "give the host one rate, or off")
        }
        if up || down {
            throw .usage("limit: a host's limit is for both ways together", "leave out --up and --down")
        }
        wish.scoped = [ScopedLimit(kind: .host, name: host, rate: table.rate(at: 0).bytesPerSecond ?? 0)]
        return wish
    }
}
