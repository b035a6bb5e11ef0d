import FoundationEssentials
import Glibc
import LinuxSystem
import ServiceWire
import TransferEngine
import TransferModel

extension TransferService {
    func throughput(_ request: ThroughputRequest) async -> ThroughputReport {
        var report = await engine.throughput(of: request.batch)
        report.process = ProcessUse.now(since: startedAt)
        return report
    }
}

/// Read from /proc/self (proc(5)) when somebody asks; nothing is counted meanwhile.
extension ProcessUse {
    static func now(since start: MonotonicInstant) -> ProcessUse {
        ProcessUse(
            cpuMilliseconds: cpuMilliseconds, uptimeMilliseconds: start.duration(to: .now).nanoseconds / 1_000_000,
            residentBytes: residentBytes, openFiles: openFiles)
    }

    /// clock_gettime(2).
    private static var cpuMilliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// The second number of statm, in pages.
    static var residentBytes: Int64 {
        guard let file = try? System.open(Array("/proc/self/statm".utf8)) else { return 0 }
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = (try? bytes.withUnsafeMutableBytes { try System.read(file.rawValue, $0) }) ?? 0
        let words = bytes[..<count].split(separator: UInt8(ascii: " "))
        guard words.count > 1, let pages = Int64(String(decoding: words[1], as: UTF8.self)) else { return 0 }
        return pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Descriptors with a place in the file system: a socket's link says `socket:[5]`, a pipe's `pipe:[7]`.
    private static var openFiles: Int64 {
        let folder = "/proc/self/fd/"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let places = names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: folder + $0) }
        // The directory that is being read is one of them.
        return Int64(places.count { $0.hasPrefix("/") && !$0.hasPrefix("/dev/") && !$0.hasPrefix("/proc/") })
    }
}
