import Glibc
import LinuxSystem
import TransferModel
import TransferQueue

// What the durable queue costs by itself: a million files walked from memory, then the things people do with them.
// Prints one line a figure. Usage: queue-bench DIRECTORY [FILES] [FILES A FOLDER]

let arguments = CommandLine.arguments
guard arguments.count > 1 else { fatalError("usage: queue-bench DIRECTORY [FILES] [FILES A FOLDER]") }
let directory = RawPath(arguments[1])
let files = arguments.count > 2 ? Int(arguments[2]) ?? 1_000_000 : 1_000_000
let perFolder = arguments.count > 3 ? Int(arguments[3]) ?? 100 : 100

func peakMemory() -> Int {
    guard let reader = try? System.open(Array("/proc/self/status".utf8)) else { return 0 }
    var bytes = [UInt8](repeating: 0, count: 8192)
    let count = bytes.withUnsafeMutableBytes { (try? System.read(reader.rawValue, $0)) ?? 0 }
    let line = String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n").first {
        $0.hasPrefix("VmHWM")
    }
    return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
}

/// Of all threads; unlike the time on the wall it does not count who else uses the machine.
func processorMilliseconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
}

func measure<Result>(_ what: String, _ body: () async throws -> Result) async throws -> Result {
    let (start, processor) = (MonotonicInstant.now, processorMilliseconds())
    let result = try await body()
    let took = start.duration(to: .now)
    let padding = String(repeating: " ", count: max(1, 44 - what.count))
    let used = processorMilliseconds() - processor
    print(
        "\(what)\(padding)\(took.nanoseconds / 1_000_000) ms   processor \(used) ms   peak \(peakMemory() / 1024) MiB")
    return result
}

func now() -> Timestamp { Timestamp(milliseconds: WallClock.milliseconds) }

let queue = try await measure("make the queue") { try TransferQueue.open(directory: directory, version: "bench") }
let request = BatchRequest(
    work: .upload(
        [UploadSource(path: RawPath("/src/tree"), placement: .named(RawPath("tree")))], to: "http://host/in/"))
let batch = try await queue.writer.add(request).batch
let source = try await queue.writer.unscannedSources(of: batch)[0].source
try await queue.writer.begin([FoundSource(source: source, kind: .directory(nil))])

try await measure("walk \(files) files, \(perFolder) a folder") {
    var next = try await queue.writer.foldersToWalk(of: source, limit: 64)
    let top = next[0]
    var chunk = WalkedChunk(folder: top.folder, isLast: true)
    chunk.folders = (0..<max(1, files / perFolder)).map { RawPath("folder-\($0)") }
    next = try await queue.writer.insert(walked: [chunk]).folders
    while !next.isEmpty {
        var chunks: [WalkedChunk] = []
        for place in next {
            var start = 0
            while start < perFolder {
                let end = min(perFolder, start + 5000)
                var chunk = WalkedChunk(folder: place.folder, isLast: end == perFolder)
                chunk.files = (start..<end).map { number in
                    WalkedFile(
                        name: RawPath("IMG_\(1_000_000 + number).jpeg"),
                        identity: SourceIdentity(
                            size: 4096, modifiedNanoseconds: 1_700_000_000_000_000_000 + Int64(number),
                            inode: UInt64(place.folder.rawValue) << 20 + UInt64(number)))
                }
                start = end
                if end == perFolder {
                    chunks.append(chunk)
                } else {
                    try await queue.writer.insert(walked: [chunk])
                }
            }
        }
        next = try await queue.writer.insert(walked: chunks).folders
    }
    try await queue.writer.finishScan(batch)
}
let lane = try await queue.writer.lanes()[0].lane
print("database \(try await queue.reader.statistics().databaseBytes >> 20) MiB")

try await measure("claim and complete 20000") {
    for _ in 0..<200 {
        for task in try await queue.writer.claim(lane, limit: 100, now: now()) {
            queue.writer.record(.running, for: task.claim)
            queue.writer.record(.completed(Completion(size: 4096, verified: .size)), for: task.claim)
        }
    }
    try await queue.writer.commit()
}
let root = RowID.batch(batch)
let tree = try await queue.reader.section(SectionRequest(parent: root, limit: 50))!.rows[0].id
_ = try await measure("section of the batch") {
    try await queue.reader.section(SectionRequest(parent: root, limit: 50))
}
_ = try await measure("section of its folder") {
    try await queue.reader.section(SectionRequest(parent: tree, limit: 50))
}
for order in [TreeOrder(.name), TreeOrder(.size), TreeOrder(.done), TreeOrder(.state)] {
    for round in ["first", "again"] {
        _ = try await measure("  its rows by \(order.by), \(round)") {
            try await queue.reader.section(SectionRequest(parent: tree, limit: 50, order: order))
        }
    }
}
let someFolder = try await queue.reader.section(SectionRequest(parent: tree, limit: 50))!.rows[0].id
for order in [TreeOrder(.name), TreeOrder(.size)] {
    for round in ["first", "again"] {
        _ = try await measure("  a folder's files by \(order.by), \(round)") {
            try await queue.reader.section(SectionRequest(parent: someFolder, limit: 50, order: order))
        }
        _ = try await measure("  all files by \(order.by), \(round)") {
            try await queue.reader.section(SectionRequest(parent: nil, limit: 50, order: order, flat: true))
        }
    }
}
_ = try await measure("  all files as they go") {
    try await queue.reader.section(SectionRequest(parent: nil, limit: 50, flat: true))
}
var search = NameSearch("img_10000")
try await measure("look for a name") {
    repeat { search = try await queue.reader.goOn(search) } while !search.isComplete
}
var met: RowID?
try await measure("  ten steps through \(search.count)") {
    for _ in 0..<10 {
        met = try await queue.reader.found(
            search, after: met, here: false, backwards: false, order: TreeOrder(), flat: false
        ).way.last
    }
}
_ = try await measure("a page of tasks") { try await queue.reader.tasks(batch: batch, limit: 100) }
_ = try await measure("filter: failed") { try await queue.reader.tasks(batch: batch, states: [.failed], limit: 100) }
_ = try await measure("filter: waiting (none)") {
    try await queue.reader.tasks(batch: batch, states: [.waiting], limit: 100)
}
for text in ["img_1000042", "folder-77 *.jpeg", "@err", "size>1M | age<1d tries>0", "/IMG_10000\\d\\d/"] {
    try await measure("screen filter: \(text)") {
        let filter = try TransferFilter(text)
        var matches = FilterMatches()
        var after: TaskID? = TaskID(rawValue: 0)
        while let from = after {
            let slice = try await queue.reader.search(filter, after: from)
            matches.add(slice)
            after = slice.next
        }
        print("  \(matches.count) match")
    }
}
try await measure("pause and resume the batch") {
    _ = try await queue.writer.pause([.batch(batch)])
    _ = try await queue.writer.resume([.batch(batch)])
}
let folder = NodeID.folder(batch, path: RawPath("tree"))
_ = try await measure("pause the folder of all") { try await queue.writer.pause([folder]) }
_ = try await measure("resume it") { try await queue.writer.resume([folder]) }
_ = try await measure("check") { print(try await queue.reader.check()) }
try await measure("close") { try await queue.close() }

let again = try await measure("open") { try TransferQueue.open(directory: directory, version: "bench") }
_ = try await measure("first claim") { try await again.writer.claim(lane, limit: 64, now: now()) }
_ = try await measure("cancel the batch") { try await again.writer.cancel([.batch(batch)]) }
_ = try await measure("undo") { try await again.writer.undo(.last, now: now()) }
_ = try await measure("cancel it again") { try await again.writer.cancel([.batch(batch)]) }
_ = try await measure("check") { print(try await again.reader.check()) }
_ = try await measure("purge it") { try await again.writer.purge([.batch(batch)]) }
try await measure("close") { try await again.close() }
