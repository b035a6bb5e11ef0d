import Glibc
import LinuxSystem

@testable import UploadReceiver

/// A running receiver with a folder of its own; both end with the object.
final class ReceiverSandbox {
    let folder: [UInt8]
    let port: UInt16
    private let receiver: UploadReceiver
    private let lines: LineReader
    private let output: OwnedDescriptor
    private var isStopped = false

    init(_ configure: (inout ReceiverConfiguration) -> Void = { _ in }) throws {
        folder = try makeFolder()
        let pipe = try System.pipe()
        output = pipe.write
        lines = LineReader(pipe.read)
        var configuration = ReceiverConfiguration(folder: folder)
        configuration.limits.keepFree = 0
        // What `RawClient.head` calls it.
        configuration.names = ["test"]
        configure(&configuration)
        receiver = try UploadReceiver(configuration, output: output.rawValue)
        port = UInt16(receiver.url.split(separator: ":")[2].dropLast()) ?? 0
    }

    deinit {
        stop()
        removeTree(folder)
    }

    func stop() {
        if !isStopped { receiver.stop() }
        isStopped = true
    }

    func client() throws -> RawClient { try RawClient(port: port) }

    /// The next journal line that begins with a word; waits for it.
    func line(beginning word: String) throws -> String {
        while true {
            let line = try lines.next()
            if line.hasPrefix(word) { return line }
        }
    }

    func path(_ name: [UInt8]) -> [UInt8] { folder + [UInt8(ascii: "/")] + name }
    func path(_ name: String) -> [UInt8] { path(Array(name.utf8)) }

    /// What is below the folder, temporary files included, without the folders that hold those.
    func files() throws -> [String] {
        try paths(below: folder).map { String(decoding: $0.dropFirst(folder.count + 1), as: UTF8.self) }.sorted()
    }
}

/// Reads lines from a pipe, waiting for each.
final class LineReader {
    private let descriptor: OwnedDescriptor
    private var arrived: [UInt8] = []

    init(_ descriptor: OwnedDescriptor) { self.descriptor = descriptor }

    /// The next line; throws when the writer has ended or half a minute brought nothing.
    func next() throws -> String {
        while true {
            if let end = arrived.firstIndex(of: UInt8(ascii: "\n")) {
                defer { arrived.removeFirst(end + 1) }
                return String(decoding: arrived[..<end], as: UTF8.self)
            }
            guard try System.poll(descriptor.rawValue, .read, timeout: .seconds(30)) else { throw Errno.timedOut }
            let chunk = try [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
                count = try System.read(descriptor.rawValue, UnsafeMutableRawBufferPointer(buffer))
            }
            if chunk.isEmpty { throw Errno.brokenPipe }
            arrived += chunk
        }
    }
}

func makeFolder() throws -> [UInt8] {
    let root = System.environment("TMPDIR") ?? Array("/tmp".utf8)
    let suffix = try System.randomBytes(6).map { String($0, radix: 16) }.joined()
    let path = root + Array("/receiver-\(suffix)".utf8)
    try System.mkdirs(path)
    return path
}

/// The paths of all files below a folder; links and other things count as files.
func paths(below folder: [UInt8]) throws -> [[UInt8]] {
    let reader = try DirectoryReader(path: folder)
    var found: [[UInt8]] = []
    while let entry = try reader.next() {
        let path = folder + [UInt8(ascii: "/")] + entry.name
        if entry.kind == .directory { found += try paths(below: path) } else { found.append(path) }
    }
    return found
}

func removeTree(_ path: [UInt8]) {
    guard let reader = try? DirectoryReader(path: path) else { return }
    while let entry = try? reader.next() {
        let child = path + [UInt8(ascii: "/")] + entry.name
        if entry.kind == .directory { removeTree(child) } else { try? System.unlink(child) }
    }
    try? System.rmdir(path)
}

func contents(_ path: [UInt8]) throws -> [UInt8] {
    let file = try System.open(path)
    let size = Int(try System.fstat(file.rawValue).size)
    return try [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
        count = try System.preadAll(file.rawValue, UnsafeMutableRawBufferPointer(buffer), at: 0)
    }
}

func write(_ bytes: [UInt8], to path: [UInt8]) throws {
    let file = try System.open(path, flags: O_WRONLY | O_CREAT | O_TRUNC)
    try bytes.withUnsafeBytes { try System.writeAll(file.rawValue, $0) }
}

extension System {
    /// Sets the permission bits of what a path leads to; programs only set those of open files.
    static func chmod(_ path: [UInt8], mode: UInt32) throws(Errno) {
        guard Glibc.chmod(String(decoding: path, as: UTF8.self), mode_t(mode)) == 0 else { throw .current }
    }
}
