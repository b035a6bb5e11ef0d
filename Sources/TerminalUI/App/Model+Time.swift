import DisplayText
import MartletKit

/// The changes that come as time goes by, and the moment of the next one.
extension Model {
    /// Ends what is over by now, and asks or starts what is due.
    mutating func expire() {
        if let undo = notice?.undo, undo.until <= now.uptime { notice = nil }
        if let until = list.steadyUntil, until <= now.uptime { list.steadyUntil = nil }
        if list.steadyUntil == nil { tree.catchUp() }
        recountWhy()
        startWhenDue()
        if let left = hearingPage.untilRefresh(in: self), left <= .zero { tellPage { $0.refresh(in: &$1) } }
        if let left = untilLifeIsAsked, left <= .zero { ask(.status) { .status(number: $0) } }
        let late = changes.pending.filter { $0.value.asked.due <= now.uptime }
        for id in late.keys { changes.pending[id] = nil }
        if let waited = late.values.filter({ !$0.isConfirmed }).map(\.asked.patience).max() {
            complain(
                "The engine has not answered for \(waited.components.seconds) s; what was asked for may still be done.")
        }
    }

    /// While bytes move the engine has something to tell every moment. When it says nothing it is asked, so that one that hangs shows though
    /// nobody presses a key. `nil`: nothing moves, or something is asked already.
    private var untilLifeIsAsked: Duration? {
        guard isConnected, let totals, totals.bytesPerSecondUp + totals.bytesPerSecondDown > 0,
            !requests.areUrgent
        else { return nil }
        return connection.heardAt + .seconds(1) - now.uptime
    }

    /// When `tick` is wanted at the latest, from now; `nil`: nothing on the screen depends on time. Countdowns count
    /// whole seconds, so each wakes when its number changes.
    var nextWake: Duration? {
        var wakes: [Duration] = changes.pending.values.map { $0.asked.due - now.uptime }
        if let left = why?.secondsLeft(engineNow), left > 0 {
            wakes.append(Self.toNextSecond(why?.untilRetry(engineNow) ?? .zero))
        }
        if let untilLifeIsAsked { wakes.append(untilLifeIsAsked) }
        if let left = hearingPage.untilRefresh(in: self) { wakes.append(left) }
        if tree.isBehind, let steadyUntil = list.steadyUntil { wakes.append(steadyUntil - now.uptime) }
        if let until = notice?.undo?.until { wakes.append(Self.toNextSecond(until - now.uptime)) }
        if isConnected, let age = requests.oldestAge(at: now.uptime) {
            wakes.append(
                age < requests.patience ? requests.patience - age : .seconds(1) - Self.fraction(age))
        }
        if let due = connection.restarts.due { wakes.append(due - now.uptime) }
        switch connection.state {
        case .lost(let since, _, _): wakes.append(.seconds(1) - Self.fraction(now.wall.since(since)))
        case .connecting, .connected, .failed: break
        }
        let wall = engineNow.wall
        let counting = tree.window.compactMap { tree.items[$0].row?.retryAt }.filter { $0 > wall }
        if let due = observed.stalled.nextChange(after: now.uptime) { wakes.append(due - now.uptime) }
        if let minute = toNextMinute { wakes.append(minute) }
        if page is TransfersPage { wakes += counting.map { Self.toNextSecond($0.since(wall)) } }
        return wakes.min().map { max($0, .milliseconds(1)) }
    }

    private static func fraction(_ duration: Duration) -> Duration { duration - .seconds(duration.components.seconds) }

    private static func toNextSecond(_ left: Duration) -> Duration {
        let fraction = fraction(max(.zero, left))
        return fraction == .zero ? .seconds(1) : fraction
    }
}
