import Terminal

/// The last things that the person did, and whether they look at the window.
struct InputState: Sendable {
    /// True when the window has the focus; `nil`: the terminal has never said.
    var hasFocus: Bool?
    /// When a key was pressed last.
    var lastKeyAt: Duration?
    /// When the key that interrupts was pressed, if it was the last one.
    var lastInterrupt: Duration?
    var lastClick: (position: Position, at: Duration)?
    var isMouseOn: Bool

    /// True when somebody looks at the window. A terminal that never reports the focus is judged by the keys.
    func isLookedAt(at uptime: Duration) -> Bool {
        hasFocus ?? (lastKeyAt.map { uptime - $0 < .seconds(10) } ?? false)
    }
}
