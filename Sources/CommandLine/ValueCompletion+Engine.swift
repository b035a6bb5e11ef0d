import Configuration

extension ValueCompletion {
    /// Shell condition that holds while an engine runs. Completion of IDs checks it first, because `martlet list` would start an engine.
    static let ifEngineRuns = "martlet engine status --json 2>/dev/null | grep -q pid"
}
