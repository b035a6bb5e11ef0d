import Configuration
import Glibc
import LinuxSystem
import ServiceWire
import TransferEngine
import TransferModel
import TransferQueue

/// The limits as set, and those of them that hold now.
struct LimitsInForce {
    var plan: LimitPlan
    var holding = EngineLimits()
    /// Another part of a timetable begins.
    var timer: LoopTimer?
}

extension TransferService {
    /// Looks at the clock again at least so often while there is a timetable: it may have been set, or the machine slept.
    private static let longestWait = 600

    /// Takes over what was set by hand, at the start and after a change: as the queue has it now, whoever has changed it since.
    func followLimits() async throws {
        inForce.plan = settings.limits.with(try await queue.writer.storedLimits())
        await applyLimits()
    }

    /// Has the engine keep what holds now, and comes again when something else will.
    private func applyLimits() async {
        if let timer = inForce.timer { loop.cancel(timer) }
        inForce.timer = nil
        let second = settings.secondOfWeek()
        let limits = inForce.plan.limits(at: second)
        if limits != inForce.holding { log.write(.info, "limits: \(Self.sentence(limits))") }
        inForce.holding = limits
        await engine.setLimits(limits)
        noteViews(QueueChange())
        guard inForce.timer == nil, let wait = inForce.plan.seconds(toChangeAfter: second) else { return }
        inForce.timer = loop.schedule(after: .seconds(min(wait, Self.longestWait))) { [weak self] in
            self?.assumeIsolated { service in
                service.inForce.timer = nil
                Task { await service.applyLimits() }
            }
        }
    }

    private static func sentence(_ limits: EngineLimits) -> String {
        func rate(_ bytes: Int64?) -> String { bytes.map { RateLimit.bytesPerSecond($0).written } ?? "off" }
        return "up \(rate(limits.bytesPerSecondUp)), down \(rate(limits.bytesPerSecondDown)), "
            + "\(limits.transfers) transfers at once, \(limits.transfersPerHost) to one host"
    }

    /// Adds what a screen shows beside the queue's own sums.
    func complete(_ totals: inout QueueTotals) {
        totals.viewers = viewers
        let trouble = queue.writer.health.trouble?.finding
        (totals.trouble, totals.troubleFinding) = (trouble?.message, trouble)
        totals.limitUp = inForce.holding.bytesPerSecondUp
        totals.limitDown = inForce.holding.bytesPerSecondDown
    }

    func limits() async throws -> TransferLimits {
        let scoped = try await queue.writer.limits().compactMap { scope, rate -> ScopedLimit? in
            switch scope {
            case .host(let name): ScopedLimit(kind: .host, name: name, rate: rate)
            case .session(let name): ScopedLimit(kind: .session, name: name.rawValue, rate: rate)
            case .batch, .folder, .task: nil
            }
        }
        return TransferLimits(
            up: inForce.holding.bytesPerSecondUp, down: inForce.holding.bytesPerSecondDown,
            transfers: inForce.plan.transfers,
            transfersPerHost: inForce.plan.transfersPerHost,
            upTimetable: inForce.plan.up.isConstant ? nil : inForce.plan.up.written,
            downTimetable: inForce.plan.down.isConstant ? nil : inForce.plan.down.written,
            scoped: scoped.sorted { ($0.kind.rawValue, $0.name) < ($1.kind.rawValue, $1.name) })
    }

    /// Keeps them over the engine's end.
    func setLimits(_ change: LimitsChange, by client: String?) async throws -> TransferLimits {
        let limits = try await setLimits(change)
        // What of it holds now is a line of its own when it is another than before.
        log.write(.user, "limits set by \(client ?? "a client"): \(change.words)")
        return limits
    }

    private func setLimits(_ change: LimitsChange) async throws -> TransferLimits {
        for count in [change.transfers, change.transfersPerHost].compactMap(\.self) where !(1...256).contains(count) {
            throw RequestError(.usage, "transfers are 1 to 256, not \(count)")
        }
        let wish = StoredLimits(
            up: try Self.written(change.up, change.upTimetable),
            down: try Self.written(change.down, change.downTimetable),
            transfers: change.transfers, transfersPerHost: change.transfersPerHost)
        var scoped: [LimitScope: Int64] = [:]
        for limit in change.scoped ?? [] { scoped[try Self.scope(limit)] = limit.rate }
        let operation = try await queue.writer.changeLimits(wish, scoped: scoped)
        try await followLimits()
        if !scoped.isEmpty { await engine.settingsChanged() }
        var limits = try await limits()
        limits.operation = operation
        return limits
    }

    /// `nil`: left as it is.
    private static func written(_ rate: Int64?, _ timetable: String?) throws(RequestError) -> String? {
        if let timetable {
            guard let read = RateTimetable(timetable) else {
                throw RequestError(.usage, "this is no timetable: give one such as \"08:00,512K 18:00,off\"")
            }
            return read.written
        }
        guard let rate else { return nil }
        return rate == 0 ? RateLimit.unlimited.written : RateLimit.bytesPerSecond(rate).written
    }

    private static func scope(_ limit: ScopedLimit) throws(RequestError) -> LimitScope {
        switch limit.kind {
        case .host:
            let name = limit.name.lowercased()
            let isName =
                (1...255).contains(name.utf8.count) && !name.contains("/") && !name.contains("@")
                && name.utf8.allSatisfy { (33...126).contains($0) }
            guard isName else {
                throw RequestError(
                    .usage, "this is no host: give it as in its URL, such as nas.example or nas.example:8443")
            }
            return .host(name)
        case .session:
            guard let name = SessionName(rawValue: limit.name) else {
                throw RequestError(.usage, "this is no session's name: give 1 to 200 bytes without control characters")
            }
            return .session(name)
        }
    }
}

/// The local time of day and week: seconds since Sunday 00:00. localtime_r(3).
enum LocalClock {
    static func secondOfWeek() -> Int {
        var now = time(nil)
        var parts = tm()
        localtime_r(&now, &parts)
        return ((Int(parts.tm_wday) * 24 + Int(parts.tm_hour)) * 60 + Int(parts.tm_min)) * 60 + Int(parts.tm_sec)
    }
}
