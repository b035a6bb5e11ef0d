import Configuration
import DisplayText
import MartletKit

/// The things that the screen remembers from the last time, and those that it will remember.
struct ReturnState: Sendable {
    /// The settings remembered when the screen opened, with what was set on it since.
    var kept = KeptScreen()
    /// The settings of the file alone.
    var configured = ScreenConfiguration()
    /// The view that this engine's screen was left with the last time.
    var leftBefore: KeptView?
    var hasAskedWhatHappened = false
    /// The progress of the batches when the screen opened.
    var batchesAtStart: [BatchID: KeptView.Standing] = [:]
    /// Said when nothing else is said any more.
    var waitingNotice: SafeText?
}
