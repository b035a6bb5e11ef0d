import CommandLine
import Configuration
import MartletKit

/// Limits of the whole engine, of hosts and of sessions.
extension Front {
    func limit(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let wish = try wish(invocation)
        if wish == LimitsWish(), try await !engineToLookAt(invocation) { return .done }
        let limits = try await ask { engine throws(RequestError) in
            wish == LimitsWish() ? try await engine.limits() : try await engine.setLimits(wish)
        }
        tell(limits, invocation)
        return .done
    }

    private func wish(_ invocation: Invocation) throws(CommandFailure) -> LimitsWish {
        var wish = LimitsWish(
            transfers: invocation.value(MartletProgram.transfersAtOnce),
            transfersPerHost: invocation.value(MartletProgram.transfersPerHost))
        let (up, down) = (invocation.has(MartletProgram.up), invocation.has(MartletProgram.down))
        let host = invocation.value(MartletProgram.host)
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

    func setSession(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        guard let rate = invocation.value(MartletProgram.newLimit) else {
            throw .usage("session set: nothing is to be changed", "give --limit RATE, or --limit off")
        }
        // A limit stays when the batches are forgotten: it must be possible to take it away.
        let (name, _) = try await named(invocation, "session set", mayBeLimitOnly: true)
        let limit = ScopedLimit(kind: .session, name: name.rawValue, rate: rate.bytesPerSecond ?? 0)
        let limits = try await ask { engine throws(RequestError) in
            try await engine.setLimits(LimitsWish(scoped: [limit]))
        }
        tell(limits, invocation)
        return .done
    }

    /// Prints the limits that hold, one line for each kind.
    func tell(_ limits: TransferLimits, _ invocation: Invocation) {
        if invocation.has(CommonOptions.json) { return console.json(limits) }
        func line(_ title: String, _ text: String) {
            console.line(title + String(repeating: " ", count: max(1, 10 - title.count)) + text)
        }
        line("Up", Self.text(limits.up, limits.upTimetable))
        line("Down", Self.text(limits.down, limits.downTimetable))
        line("Transfers", "\(limits.transfers) at once, \(limits.transfersPerHost) to one host")
        for scoped in limits.scoped {
            let title = scoped.kind == .host ? "Host" : "Session"
            line(title, "\(scoped.name) \(Self.text(scoped.rate, nil))")
        }
    }

    private static func text(_ rate: Int64?, _ timetable: String?) -> String {
        let now = rate.map { RateLimit.bytesPerSecond($0).written + "/s" } ?? "off"
        return timetable.map { "\(now) now, by \($0)" } ?? now
    }
}
