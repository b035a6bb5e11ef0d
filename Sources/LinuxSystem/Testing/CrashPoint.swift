#if DEBUG
    import Glibc
    import struct Synchronization.Atomic
#endif

/// Steps after which a debug build kills itself when `MARTLET_FAULT=PROGRAM.NAME:N` asks for it, at the Nth time, so that tests can prove
/// what the next start makes of it. Nothing in a release build.
package protocol CrashPoint: RawRepresentable<String> {
    /// The first word, in front of the point's name.
    static var program: String { get }
}

extension CrashPoint {
    /// It is reached: perhaps for the last time.
    @inline(__always)
    package func pass() {
        #if DEBUG
            CrashPlan.count(Self.program, rawValue)
        #endif
    }
}

#if DEBUG
    private enum CrashPlan {
        private static let plan: (program: Substring, point: Substring, number: Int)? = {
            let text = System.environment("MARTLET_FAULT").map { String(decoding: $0, as: UTF8.self) }
            let words = text?.split(separator: ":") ?? []
            guard words.count == 2, let number = Int(words[1]), let dot = words[0].firstIndex(of: ".") else {
                return nil
            }
            return (words[0][..<dot], words[0][words[0].index(after: dot)...], number)
        }()
        private static let passes = Atomic<Int>(0)

        static func count(_ program: String, _ point: String) {
            guard let plan, plan.point == point, plan.program == program else { return }
            if passes.add(1, ordering: .relaxed).newValue == plan.number {
                // As a crash or a power cut would: nobody gets to clean up.
                kill(getpid(), SIGKILL)
            }
        }
    }
#endif
