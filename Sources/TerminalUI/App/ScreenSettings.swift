/// Settings of the screen beside its look: from `martlet.conf` and `keys.conf`, some changed by commands of the screen.
struct ScreenSettings: Sendable {
    /// Beyond which amounts a change is asked about.
    var askAbove = AskAbove()
    var ringsBell: Bool
    /// True when ends of batches are shown on the desktop.
    var notifies = false
    /// The path of `keys.conf`.
    var keysFile = ""
    /// The problems in `keys.conf`: parts of it that do not count.
    var keyProblems: [String] = []
}
