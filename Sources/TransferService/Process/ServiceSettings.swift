import LinuxSystem
package import SessionBus

/// The behaviour of the service, decided when it starts.
package struct ServiceSettings: Sendable {
    /// Without clients and work the engine leaves after so long; `nil`: never.
    package var idleExit: Duration?
    /// Views are looked at again at most so often.
    package var viewInterval = Duration.milliseconds(100)
    package var clientLimit = 256
    /// The time in which a long request has to come as a whole, while others wait to send one.
    package var longLinePatience = Duration.seconds(10)
    /// The time in which a change can be taken back; the queue and the engine were told the same.
    package var grace = Duration.seconds(10)
    /// Limits of the whole engine as configured.
    package var limits = LimitPlan()
    /// Shows a notification on the user's desktop; `nil`: the person does not want any.
    package var showsOnDesktop: TransferService.ShowOnDesktop?
    /// The user's session bus, until a front tells better.
    package var sessionBus = SessionBus(variable: nil, runtimeDirectory: "/nonexistent")
    /// The local time of day and week: seconds since Sunday 00:00.
    package var secondOfWeek: @Sendable () -> Int = { LocalClock.secondOfWeek() }
    /// True for a user whose processes are let in; everybody else's are sent away.
    package var mayConnect: @Sendable (UInt32) -> Bool = { $0 == System.userID }

    package init(idleExit: Duration? = .seconds(600)) { self.idleExit = idleExit }
}
