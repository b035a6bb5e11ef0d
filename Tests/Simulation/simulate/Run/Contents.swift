import Digests
import LinuxSystem

/// All versions that files of the simulated world ever had, by their digests: each file of the person's has bytes of its own, so a digest
/// tells whose version it is.
final class Contents {
    /// A version of a file, whole from one moment to another.
    struct Version {
        let digest: String
        let size: Int
        let since: MonotonicInstant
        /// `nil`: it still is.
        var until: MonotonicInstant?
        /// It ended by bytes that were written into the same file; else whoever has the file open still reads it.
        var wasOverwritten = false
    }

    private unowned let world: World
    private(set) var versions: [String: [Version]] = [:]

    init(in world: World) { self.world = world }

    /// A file has these bytes from now on; `nil`: it is gone.
    /// - Parameter isOther: another file got the name.
    func has(_ path: String, _ bytes: [UInt8]?, isOther: Bool = false) {
        var known = versions[path] ?? []
        if let last = known.indices.last, known[last].until == nil {
            known[last].until = world.now
            known[last].wasOverwritten = bytes != nil && !isOther
        }
        if let bytes { known.append(Version(digest: Self.digest(bytes), size: bytes.count, since: world.now)) }
        versions[path] = known
    }

    /// The version of a file with these bytes that stood there at some time since then.
    func wasVersion(_ digest: String, of path: String, since time: MonotonicInstant) -> Bool {
        versions[path]?.contains { $0.digest == digest && $0.until.map { $0 >= time } ?? true } ?? false
    }

    /// A version that whoever reads files while they are sent could read to its end at that time; small files are read in one go.
    func wasReadable(_ digest: String, of path: String, at time: MonotonicInstant) -> Bool {
        versions[path]?.contains {
            $0.digest == digest
                && ($0.size <= 65_536 || !$0.wasOverwritten || $0.until.map { $0 >= time } ?? true)
        } ?? false
    }

    static func digest(_ bytes: [UInt8]) -> String { String(DigestAlgorithm.sha256.digest(of: bytes).hex.prefix(16)) }
    static func base64Digest(_ bytes: [UInt8]) -> String { DigestAlgorithm.sha256.digest(of: bytes).base64 }
}

/// Times as HTTP writes them.
enum HTTPTime {
    static func text(_ seconds: Int64) -> String {
        let days = seconds / 86400
        let ofDay = seconds % 86400
        // 1970-01-01 was a Thursday.
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][Int(days % 7)]
        let (year, month, day) = date(days)
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        return "\(weekday), \(two(day)) \(months[month - 1]) \(year) "
            + "\(two(Int(ofDay / 3600))):\(two(Int(ofDay / 60 % 60))):\(two(Int(ofDay % 60))) GMT"
    }

    /// As XML writes them: `2026-01-01T00:00:00.000Z`.
    static func internet(_ seconds: Int64) -> String {
        let (year, month, day) = date(seconds / 86400)
        let ofDay = Int(seconds % 86400)
        return "\(year)-\(two(month))-\(two(day))T\(two(ofDay / 3600)):\(two(ofDay / 60 % 60)):\(two(ofDay % 60)).000Z"
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func date(_ days: Int64) -> (year: Int, month: Int, day: Int) {
        var (year, rest) = (1970, Int(days))
        func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }
        while rest >= (isLeap(year) ? 366 : 365) {
            rest -= isLeap(year) ? 366 : 365
            year += 1
        }
        var month = 0
        let lengths = [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        while rest >= lengths[month] {
            rest -= lengths[month]
            month += 1
        }
        return (year, month + 1, rest + 1)
    }
}
