#if DEBUG
    import Glibc
    import LinuxSystem
    import Synchronization
#endif

/// Places where a debug build kills itself when `MARTLET_FAULT=engine.NAME:N` asks for it, at the Nth time: one after each persisted step,
/// so that tests can prove what the next start makes of it. Nothing in a release build.
enum FaultPoint: String {
    /// Tasks are claimed, nothing is sent.
    case claimed
    /// An attempt's first request is about to go out.
    case started
    /// The server has answered, nothing of that is recorded.
    case answered
    /// A resume point is on the disk.
    case persisted
    /// Payload is synced, its resume point not yet recorded.
    case synced
    /// A download is complete under its temporary name, and that is recorded.
    case publishing
    /// It has its final name, and that is not recorded.
    case renamed
    /// The end of a task is handed to the queue, perhaps not committed.
    case finished
    /// Entries of a directory are in the queue.
    case walked

    @inline(__always)
    func pass() {
        #if DEBUG
            Self.count(self)
        #endif
    }

    #if DEBUG
        private static let plan: (point: FaultPoint, number: Int)? = {
            guard let text = System.environment("MARTLET_FAULT").map({ String(decoding: $0, as: UTF8.self) }) else {
                return nil
            }
            let parts = text.split(separator: ":")
            guard parts.count == 2, parts[0].hasPrefix("engine."), let number = Int(parts[1]),
                let point = FaultPoint(rawValue: String(parts[0].dropFirst("engine.".count)))
            else { return nil }
            return (point, number)
        }()
        private static let passes = Atomic<Int>(0)

        private static func count(_ point: FaultPoint) {
            guard let plan, plan.point == point else { return }
            if passes.add(1, ordering: .relaxed).newValue == plan.number {
                // As a crash or a power cut would: nobody gets to clean up.
                kill(getpid(), SIGKILL)
            }
        }
    #endif
}
