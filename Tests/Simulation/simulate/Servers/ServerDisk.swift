import Digests
import LinuxSystem

/// A file at a server. Its name may change while somebody has it open.
final class RemoteFile {
    var bytes: [UInt8]
    /// Seconds since 1970.
    var modified: Int64
    /// Bytes from the start that a power cut leaves there.
    var synced = 0

    init(_ bytes: [UInt8] = [], modified: Int64) {
        self.bytes = bytes
        self.modified = modified
    }

    var digest: String { Contents.digest(bytes) }
}

/// A server's reading of a file that is sent. What goes out in the first seconds of a small one was read in one go; the rest, and all of a
/// large one, is read when it goes out.
struct FileReading {
    /// A server reads so much at once.
    static let quicklyRead = 1 << 20
    /// Longer than the second that a download trusts, since heads and ends are under way for different times.
    private static let quicklySent = Duration.seconds(10)

    let file: RemoteFile
    /// The part of it that was promised.
    let range: Range<Int>
    private var first: (bytes: [UInt8], time: MonotonicInstant)?

    init(_ file: RemoteFile, _ range: Range<Int>) {
        self.file = file
        self.range = range
    }

    /// The file's bytes as they go out at a time.
    mutating func bytes(at now: MonotonicInstant) -> [UInt8] {
        guard range.count <= Self.quicklyRead else { return file.bytes }
        let first = first ?? (file.bytes, now)
        self.first = first
        return first.time.duration(to: now) < Self.quicklySent ? first.bytes : file.bytes
    }
}

/// The files of one model server, and all that ever stood under each name that a person uses.
final class ServerDisk {
    enum Writer { case martlet, other }

    /// What stood under a name from a time on.
    struct Standing {
        let time: MonotonicInstant
        /// `nil`: nothing.
        let digest: String?
        let writer: Writer
    }

    let host: String
    private unowned let world: World
    private(set) var files: [String: RemoteFile] = [:]
    private var folders: Set<String> = [""]
    private(set) var history: [String: [Standing]] = [:]
    /// Told of each change under a name.
    var watch: ((String, Standing) -> Void)?
    let ignoresCase: Bool

    init(_ host: String, ignoresCase: Bool = false, in world: World) {
        self.host = host
        self.ignoresCase = ignoresCase
        self.world = world
    }

    /// The present second by the server's clock.
    var now: Int64 { world.wallNanoseconds / 1_000_000_000 }

    /// The name without slashes at its ends, as the server tells it apart from others.
    func key(_ path: String) -> String {
        var name = path.drop { $0 == "/" }
        while name.last == "/" { name.removeLast() }
        return ignoresCase ? name.lowercased() : String(name)
    }

    func file(_ path: String) -> RemoteFile? { files[key(path)] }

    func isFolder(_ path: String) -> Bool { folders.contains(key(path)) }

    func makeFolders(_ path: String) {
        var whole = ""
        for part in key(path).split(separator: "/") {
            whole += (whole.isEmpty ? "" : "/") + part
            if file(whole) == nil { folders.insert(whole) }
        }
    }

    /// The folder that a name lies in.
    static func parent(_ path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }

    /// The final name of a file whose temporary name this is; `nil`: it is none.
    static func target(ofTemporary path: String) -> String? {
        guard path.hasSuffix(".martlet-part"), let slash = path.lastIndex(of: "/") else { return nil }
        // `.NAME.TOKEN.martlet-part`
        let parts = path[slash...].dropFirst(2).split(separator: ".", omittingEmptySubsequences: false)
        return path[...slash] + parts.dropLast(2).joined(separator: ".")
    }

    /// Temporary files, in the order of their names.
    var temporaries: [Unfinished] {
        files.keys.filter { $0.hasSuffix(".martlet-part") }.sorted().map { name in
            let last = name.lastIndex(of: "/").map { name[name.index(after: $0)...] } ?? name[...]
            return Unfinished(name: String(last), what: "the temporary file \(name)")
        }
    }

    /// Takes a folder away with all that lies in it.
    func removeFolder(_ path: String) {
        let start = key(path) + "/"
        for name in files.keys.filter({ $0.hasPrefix(start) }).sorted() { put(nil, at: name) }
        folders = folders.filter { $0 != key(path) && !$0.hasPrefix(start) }
    }

    func put(_ file: RemoteFile?, at path: String, by writer: Writer = .martlet) {
        files[key(path)] = file
        changed(path, by: writer)
    }

    /// The bytes under a name have changed.
    func changed(_ path: String, by writer: Writer = .martlet) {
        let standing = Standing(time: world.now, digest: file(path)?.digest, writer: writer)
        history[key(path), default: []].append(standing)
        watch?(path, standing)
    }

    /// The name of an open file; `nil`: it has none any more.
    func name(of file: RemoteFile) -> String? { files.first { $0.value === file }?.key }

    /// Names directly in a folder, in order, each with its file or as a folder.
    func entries(of folder: String) -> [(name: String, file: RemoteFile?)] {
        let start = key(folder).isEmpty ? "" : key(folder) + "/"
        func inside(_ name: String) -> String? {
            guard name.hasPrefix(start) else { return nil }
            let rest = name.dropFirst(start.count)
            return rest.isEmpty || rest.contains("/") ? nil : String(rest)
        }
        var found: [(String, RemoteFile?)] = []
        for (name, file) in files { if let name = inside(name) { found.append((name, file)) } }
        for folder in folders { if let name = inside(folder) { found.append((name, nil)) } }
        return found.sorted { $0.0 < $1.0 }
    }
}
