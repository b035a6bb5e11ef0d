import MartletKit

/// The modes of the list of transfers, beside its rows (`Tree`) and its filters (`Filters`).
struct ListState: Sendable {
    /// Until then rows keep their places; `nil`: no key was pressed lately, or one that moves rows.
    var steadyUntil: Duration?
    /// The file that the cursor follows.
    var followed: RowID?
    /// Since when nothing of the engine's news is shown.
    var frozen: Frozen?
    /// Lines of the lower part, where there is room for it.
    var lowerHeight = ScreenLayout.lowerHeights[0]
    /// The details below have the keys, from this line on.
    var lowerScroll: Int?
}
