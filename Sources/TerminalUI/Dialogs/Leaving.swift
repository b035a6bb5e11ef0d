import MartletKit

/// The things that count when the screen is left.
struct Leaving: Sendable {
    /// The way the engine ends when the person leaves.
    enum EngineEnd: Sendable {
        case afterRunning, now
    }

    /// The effect of logging out on the engine.
    var logout = LogoutEffect.none
    /// True when leaving is asked about if logging out would end the engine.
    var isAskedAbout = true
    /// Leaving ends the engine, too.
    var engineEnd: EngineEnd?
}
