import CommandLine
import Configuration
import MartletKit

extension CommandContext {
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
