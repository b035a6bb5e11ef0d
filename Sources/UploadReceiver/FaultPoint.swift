#if DEBUG
    import Glibc
    import LinuxSystem
    import Synchronization
#endif

/// Places where a debug build kills itself when `MARTLET_FAULT=receive.NAME:N` asks for it, at the Nth time: one after each step that the disk
/// remembers, so that tests can prove what the next start makes of it. Nothing in a release build.
enum FaultPoint: String {
    /// An upload's data and record have their names; its client has not heard of it.
    case made
    /// The length of an upload has become known, durably.
    case measured
    /// Bytes are on the disk; nobody was told.
    case synced
    /// A whole file is sealed and on the disk under its temporary name.
    case publishing
    /// It has its final name; its folder is not synced, and nobody was told.
    case renamed
    /// The record of an upload that is given up is gone, its data is not.
    case forgotten

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
            let words = text.split(separator: ":")
            guard words.count == 2, words[0].hasPrefix("receive."), let number = Int(words[1]),
                let point = FaultPoint(rawValue: String(words[0].dropFirst("receive.".count)))
            else { return nil }
            return (point, number)
        }()
        private static let passes = Atomic<Int>(0)

        private static func count(_ point: FaultPoint) {
            guard let plan, plan.point == point else { return }
            if passes.add(1, ordering: .relaxed).newValue == plan.number {
                // As a crash would: nobody gets to clean up.
                kill(getpid(), SIGKILL)
            }
        }
    #endif
}
