import DisplayText
import MartletKit

/// Times as they are written, the time in the first line, to the minute, and how long the engine has run.
extension Model {
    mutating func statusCame(_ result: Result<EngineStatus?, RequestError>, _ number: Int) {
        guard requests.outstanding.removeValue(forKey: number) != nil, case .success(let status?) = result else {
            return
        }
        connection.engineSince = now.wall.advanced(by: .seconds(-status.uptime))
    }

    /// A time that the engine tells, by its clock: without the day when it is of today.
    func moment(_ time: Timestamp) -> SafeText {
        let isToday = appearance.date(time).prefix(10) == appearance.date(engineNow.wall).prefix(10)
        return SafeText(isToday ? appearance.timeOfDay(time) : appearance.date(time))
    }

    /// The same in a column: `14:41`, or the day as `11-23` when it is a day or more away.
    func shortMoment(_ time: Timestamp) -> String {
        let now = engineNow.wall
        let day = Duration.seconds(86_400)
        let isNear = time < now.advanced(by: day) && now < time.advanced(by: day)
        return String(isNear ? appearance.timeOfDay(time).prefix(5) : appearance.date(time).dropFirst(5).prefix(5))
    }

    /// Nobody looks at a window without the focus closely enough to be woken for a minute.
    var toNextMinute: Duration? {
        guard appearance.hasClock, layout.header != nil, input.hasFocus != false, page is TransfersPage else {
            return nil
        }
        return .milliseconds(60_000 - now.wall.milliseconds % 60_000)
    }
}

extension Drawing {
    /// `12:41`.
    var clock: SafeText {
        appearance.hasClock ? appearance.safe(String(appearance.timeOfDay(model.now.wall).prefix(5))) : ""
    }

    /// `, up 3d2h`, where there is room for what matters less.
    var uptime: SafeText {
        guard appearance.hasClock, width >= 110, model.hearsNews, let since = model.connection.engineSince else {
            return ""
        }
        let minutes = max(0, model.now.wall.since(since).components.seconds) / 60
        return ", up \(SafeText(minutes > 0 ? Figures.timeLeft(minutes * 60) : "<1m"))"
    }
}
