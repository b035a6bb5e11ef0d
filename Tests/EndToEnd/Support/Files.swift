import Digests
import Glibc
import TransferModel

/// Files for tests, by the names the kernel knows: bytes, not text.

func readBytes(_ path: RawPath) throws -> [UInt8] {
    let descriptor = open(cString(path), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw HarnessError("cannot open \(path): \(String(cString: strerror(errno)))") }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        guard count >= 0 else { throw HarnessError("cannot read \(path): \(String(cString: strerror(errno)))") }
        if count == 0 { return bytes }
        bytes += buffer[..<count]
    }
}

func readText(_ path: String) throws -> String { String(decoding: try readBytes(RawPath(path)), as: UTF8.self) }

/// Writes a file, and the folders above it.
func write(_ bytes: [UInt8], to path: RawPath) throws { try write(bytes, to: path, O_TRUNC) }

/// Makes a file longer.
func append(_ bytes: [UInt8], to path: RawPath) throws { try write(bytes, to: path, O_APPEND) }

/// Of a file; 0 for what is none.
func length(of path: RawPath) -> Int64 {
    var status = stat()
    guard lstat(cString(path), &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return 0 }
    return Int64(status.st_size)
}

private func write(_ bytes: [UInt8], to path: RawPath, _ how: Int32) throws {
    makeFolders(above: path)
    let descriptor = open(cString(path), O_WRONLY | O_CREAT | how | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw HarnessError("cannot create \(path): \(String(cString: strerror(errno)))") }
    defer { close(descriptor) }
    var offset = 0
    while offset < bytes.count {
        let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + offset, bytes.count - offset) }
        guard count > 0 else { throw HarnessError("cannot write \(path): \(String(cString: strerror(errno)))") }
        offset += count
    }
}

func write(_ text: String, to path: String) throws { try write(Array(text.utf8), to: RawPath(path)) }

func write(_ text: String, to path: RawPath) throws { try write(Array(text.utf8), to: path) }

func makeFolder(_ path: RawPath) {
    makeFolders(above: path.appending(RawPath("x")))
}

private func makeFolders(above path: RawPath) {
    for (index, byte) in path.bytes.enumerated() where byte == UInt8(ascii: "/") && index > 0 {
        mkdir(cString(RawPath(Array(path.bytes[..<index]))), 0o755)
    }
}

func fileExists(_ path: String) -> Bool { access(path, F_OK) == 0 }

/// The NUL-terminated form for C.
func cString(_ path: RawPath) -> [CChar] { path.bytes.map { CChar(bitPattern: $0) } + [0] }

/// The names in a folder, without `.` and `..`; nothing when it cannot be read.
func names(in folder: RawPath) -> [RawPath] {
    guard let stream = opendir(cString(folder)) else { return [] }
    defer { closedir(stream) }
    var found: [RawPath] = []
    while let entry = readdir(stream) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
        if name != Array(".".utf8), name != Array("..".utf8) { found.append(RawPath(name)) }
    }
    return found
}

/// Every file below a folder by its path from there, each with its SHA-256: two trees are the same when these are equal.
func digests(below folder: RawPath) throws -> [RawPath: String] {
    var found: [RawPath: String] = [:]
    var pending = [RawPath("")]
    while let here = pending.popLast() {
        for name in names(in: here.bytes.isEmpty ? folder : folder.appending(here)) {
            let path = here.appending(name)
            var status = stat()
            guard lstat(cString(folder.appending(path)), &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR {
                pending.append(path)
            } else {
                found[path] = try digest(of: folder.appending(path))
            }
        }
    }
    return found
}

/// A file's SHA-256, read piece by piece.
func digest(of path: RawPath) throws -> String {
    let descriptor = open(cString(path), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw HarnessError("cannot open \(path): \(String(cString: strerror(errno)))") }
    defer { close(descriptor) }
    let digest = RunningDigest(.sha256)
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        guard count >= 0 else { throw HarnessError("cannot read \(path): \(String(cString: strerror(errno)))") }
        if count == 0 { return digest.value().hex }
        digest.update(buffer[..<count])
    }
}

/// Removes a file, a link, or a whole folder.
func removeTree(_ path: RawPath) {
    var status = stat()
    guard lstat(cString(path), &status) == 0 else { return }
    if status.st_mode & S_IFMT == S_IFDIR {
        for name in names(in: path) { removeTree(path.appending(name)) }
    }
    remove(cString(path))
}
