import Glibc
import LinuxSystem

// The engine in a world that a seed decides: `simulate FIRST COUNT [story]`. CONTRIBUTING.md, "The simulated world", says how to read it.

// Where the order of a Set or Dictionary decided anything, a run would not repeat.
if getenv("SWIFT_DETERMINISTIC_HASHING") == nil {
    setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
    execv("/proc/self/exe", CommandLine.unsafeArgv)
}
// Lives that were killed leave their files open.
var files = rlimit()
getrlimit(__rlimit_resource_t(7), &files)
files.rlim_cur = files.rlim_max
setrlimit(__rlimit_resource_t(7), &files)

DatabaseFiles.register()

let arguments = CommandLine.arguments
guard arguments.count >= 3, let first = UInt64(arguments[1]), let count = UInt64(arguments[2]) else {
    print("usage: simulate FIRST COUNT [story]")
    exit(2)
}
let tellsAll = arguments.count > 3

/// Runs one seed in a folder of its own.
func run(_ seed: UInt64, isPrinted: Bool) -> Run {
    let base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    // The same name each time, so that nothing in a run depends on it; another one beside a run of the same seed.
    var folder = "\(base)/martlet-simulate-\(seed)"
    if mkdir(folder, 0o700) != 0 {
        var name = Array("\(folder)-XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else {
            print("simulate: no folder in \(base): errno \(errno)")
            exit(2)
        }
        folder = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    let run = Run(seed: seed, folder: folder, isPrinted: isPrinted)
    _ = run.run()
    removeFolder(folder)
    return run
}

func removeFolder(_ folder: String) {
    guard let listing = opendir(folder) else { return }
    defer { closedir(listing) }
    while let entry = readdir(listing) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name == "." || name == ".." { continue }
        let path = "\(folder)/\(name)"
        if unlink(path) != 0 { removeFolder(path) }
    }
    rmdir(folder)
}

var hours: Double = 0
var counts: [String: Int] = [:]
for seed in first..<first + count {
    let once = run(seed, isPrinted: tellsAll)
    hours += Double(once.world.elapsed.components.seconds) / 3600
    counts.merge(once.world.counts, uniquingKeysWith: +)
    if once.world.faults.isEmpty { continue }
    let again = run(seed, isPrinted: false)
    for line in once.world.story.end(60) where !tellsAll { print(line) }
    let isSame = once.world.story.digest == again.world.story.digest
    print("seed \(seed) fails: \(once.world.faults[0])")
    print(
        isSame
            ? "It fails the same way each time."
            : "Another run of it went another way: something is outside of the world.")
    print("The whole story: make simulate SEED=\(seed)")
    exit(1)
}
print(counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
print("\(count) runs from seed \(first), \(Int(hours)) simulated hours: no rule was broken")
