/// The engine's patience when it ends. No new file is started in any case.
public enum StopManner: Sendable, Hashable, CaseIterable {
    /// Everything that runs is checkpointed and broken off, within 2 s.
    case now
    /// Resumable transfers are broken off at once; those that cannot go on later where they stand are finished, however long that takes.
    case finishingUnresumable
    /// Everything that runs is finished.
    case finishingRunning
}
