import Configuration
import TransferModel

/// Sentences for a file that moves: which it is, where it goes, since when and how fast, and what comes next. There is nothing to be
/// unblocked, and whoever asks wants to see that.
extension WhySentence {
    /// As far as the limit that holds it back, which comes next.
    var moves: String {
        guard let file else { return "\(called) is running" }
        let to = file.ends.map { " goes to \($0.to)" } ?? " is running"
        return "\(called)\(to)\(since): \(amount(of: file))"
    }

    /// `62.7M of 71.2M, 4 s left at 9.8M/s`
    private func amount(of file: NodeRow) -> String {
        let units = ScreenConfiguration.Units.iec
        guard file.state != .finishing else { return "all of it is there, and is being checked" }
        let total = file.sizeKnown ? " of \(units.size(file.bytes.total))" : " so far"
        let left = file.secondsLeft.map { ", \(Self.span(.seconds($0))) left" } ?? ""
        let speed = file.bytesPerSecond > 0 ? "\(left) at \(units.rate(file.bytesPerSecond))" : ""
        return "\(units.size(file.bytes.sent))\(total)\(speed)"
    }

    /// The next steps of a file.
    var whatFollows: String {
        guard let file else { return "" }
        let next = file.state == .finishing ? "then it is done" : "then it is checked, and done"
        return "; \(next); nothing is being waited for"
    }
}
