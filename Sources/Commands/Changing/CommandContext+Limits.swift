import CommandLine
import Configuration
import MartletKit

extension CommandContext {
    /// Prints the limits that hold, one line for each kind.
    func tell(_ limits: TransferLimits, _ invocation: Invocation) {
        if invocation.has(CommonOptions.json) { return console.json(limits) }
        console.line("Up", Self.text(limits.up, limits.upTimetable))
        console.line("Down", Self.text(limits.down, limits.downTimetable))
        console.line("Transfers", "\(limits.transfers) at once, \(limits.transfersPerHost) to one host")
        for scoped in limits.scoped {
            let title = scoped.kind == .host ? "Host" : "Session"
            console.line(title, "\(scoped.name) \(Self.text(scoped.rate, nil))")
        }
    }

    private static func text(_ rate: Int64?, _ timetable: String?) -> String {
        let now = rate.map { RateLimit.bytesPerSecond($0).written + "/s" } ?? "off"
        return timetable.map { "\(now) now, by \($0)" } ?? now
    }
}
