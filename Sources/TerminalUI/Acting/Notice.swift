import DisplayText
import MartletKit

/// The last message, which stays until the next key; what can still be undone stays as long as it can.
struct Notice: Hashable, Sendable {
    var text: SafeText
    var isError = false
    /// The change that can be taken back, and until when (by the engine's clock, so a little earlier here).
    var undo: Undo?

    struct Undo: Hashable, Sendable {
        var choice: UndoChoice
        var name: SafeText
        var until: Duration
    }
}
