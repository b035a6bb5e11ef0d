/// How patiently the engine ends. No new file is started in any case.
public enum StopManner: Sendable, Hashable, CaseIterable {
    /// Everything that runs is checkpointed and broken off, within 2 s.
    case now
    /// What can go on later where it stands is broken off at once; what cannot is finished, however long that takes.
    case finishingUnresumable
    /// Everything that runs is finished.
    case finishingRunning
}
