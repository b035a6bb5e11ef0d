import DisplayText
import MartletKit

/// The title of the window while the screen is open.
extension Model {
    /// Folders of a batch of the list are still being looked through: what is there may not be all.
    var isScanning: Bool { tree.root?.rows.contains(where: \.scanning) ?? false }

    /// `martlet 32% 10m`: what can be read on a tab. It changes once a minute, not with every second.
    var windowTitle: SafeText {
        switch connection.state {
        case .connecting: return "martlet"
        case .lost, .failed: return "martlet: no engine"
        case .connected: break
        }
        guard silence == nil else { return "martlet: no answer" }
        guard let totals, totals.counts.total > 0 else { return "martlet" }
        var parts = ["martlet"]
        if totals.isOver, !isScanning {
            if totals.counts.completed > 0 { parts.append("done") }
        } else {
            parts.append("\(totals.share(scanning: isScanning).percent)%")
            if totals.counts.active > 0, let seconds = totals.secondsLeft { parts.append(Self.minutes(seconds)) }
        }
        if totals.problems > 0 { parts.append(totals.shortProblems.string) }
        return SafeText(parts.joined(separator: " "))
    }

    private static func minutes(_ seconds: Int64) -> String {
        switch seconds {
        case ..<60: "<1m"
        case ..<3600: "\(seconds / 60)m"
        default: Figures.timeLeft(seconds / 60 * 60)
        }
    }
}
