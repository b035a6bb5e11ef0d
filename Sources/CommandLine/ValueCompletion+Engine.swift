import Configuration

extension ValueCompletion {
    /// The condition before a list of what the engine has, for every shell: completing a word never starts an engine.
    static let ifEngineRuns = "martlet engine status 2>/dev/null | grep -q pid"
}
