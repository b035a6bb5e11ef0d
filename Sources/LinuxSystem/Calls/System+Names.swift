import CLinux
import Glibc

extension System {
    /// The status of an open file. Corresponds to `fstat`.
    package static func fstat(_ descriptor: Int32) throws(Errno) -> FileStatus {
        var status = Glibc.stat()
        _ = try systemCall(.fstat, descriptor: descriptor) { Glibc.fstat(descriptor, &status) }
        return FileStatus(status)
    }

    /// The status of what a path leads to, links followed. Corresponds to `stat`.
    package static func stat(_ path: [UInt8]) throws(Errno) -> FileStatus {
        var status = Glibc.stat()
        _ = try systemCall(.stat, path: path) { Glibc.fstatat(AT_FDCWD, $0, &status, 0) }
        return FileStatus(status)
    }

    /// The status of the path itself, a link not followed. Corresponds to `lstat`.
    package static func lstat(_ path: [UInt8]) throws(Errno) -> FileStatus {
        var status = Glibc.stat()
        _ = try systemCall(.lstat, path: path) { Glibc.lstat($0, &status) }
        return FileStatus(status)
    }

    /// The status of a name below an open directory. Corresponds to `fstatat`.
    package static func fstatat(
        _ directory: Int32, _ name: [UInt8], followingLinks: Bool
    ) throws(Errno) -> FileStatus {
        var status = Glibc.stat()
        _ = try systemCall(.fstatat, path: name) {
            Glibc.fstatat(directory, $0, &status, followingLinks ? 0 : AT_SYMLINK_NOFOLLOW)
        }
        return FileStatus(status)
    }

    /// Moves a name, replacing what is there. Corresponds to `rename`.
    package static func rename(_ old: [UInt8], to new: [UInt8]) throws(Errno) {
        try renameat(AT_FDCWD, old, to: AT_FDCWD, new)
    }

    /// Moves a name, `EEXIST` when the new one is taken, as `renameatWithoutReplacing` does.
    package static func renameWithoutReplacing(_ old: [UInt8], to new: [UInt8]) throws(Errno) {
        try renameatWithoutReplacing(AT_FDCWD, old, to: AT_FDCWD, new)
    }

    /// Removes a name of a file. Corresponds to `unlink`.
    package static func unlink(_ path: [UInt8]) throws(Errno) {
        _ = try systemCall(.unlink, path: path) { Glibc.unlink($0) }
    }

    /// Removes an empty directory. Corresponds to `rmdir`.
    package static func rmdir(_ path: [UInt8]) throws(Errno) {
        _ = try systemCall(.rmdir, path: path) { Glibc.rmdir($0) }
    }

    /// Makes a named pipe. Corresponds to `mkfifo`.
    package static func mkfifo(_ path: [UInt8], mode: UInt32) throws(Errno) {
        _ = try systemCall(.mkdir, path: path) { Glibc.mkfifo($0, mode_t(mode)) }
    }

    /// Makes a directory. Corresponds to `mkdir`.
    package static func mkdir(_ path: [UInt8], mode: UInt32) throws(Errno) {
        _ = try systemCall(.mkdir, path: path) { Glibc.mkdir($0, mode_t(mode)) }
    }

    /// Makes a directory and those above it; what exists stays as it is. Corresponds to `mkdir`, repeated.
    package static func mkdirs(_ path: [UInt8], mode: UInt32 = 0o700) throws(Errno) {
        do {
            try mkdir(path, mode: mode)
        } catch .noSuchFile {
            guard let slash = path.lastIndex(of: UInt8(ascii: "/")), slash > 0 else { throw .noSuchFile }
            try mkdirs(Array(path[..<slash]), mode: mode)
            // A path that ends in a slash was made whole by the step above.
            do { try mkdir(path, mode: mode) } catch .fileExists {}
        } catch .fileExists {
            if try stat(path).kind != .directory { throw .notDirectory }
        }
    }

    /// Sets an open file's permission bits. There is no such call by a path: it would follow a link, and somebody else may put one there.
    /// Corresponds to `fchmod`.
    package static func fchmod(_ descriptor: Int32, mode: UInt32) throws(Errno) {
        _ = try systemCall(.fchmod, descriptor: descriptor) { Glibc.fchmod(descriptor, mode_t(mode)) }
    }

    /// Gives a file or folder that was just made its permission bits, where its file system lets us: one that says itself to whom all files
    /// belong has none to give, and that is no failure. Corresponds to `fchmod`.
    package static func setModeIfPossible(_ mode: UInt32, of descriptor: Int32) throws(Errno) {
        do { try fchmod(descriptor, mode: mode) } catch .notPermitted {} catch .notSupported {} catch .notImplemented {}
    }

    /// Sets an open file's time of modification, nanoseconds since 1970. Corresponds to `futimens`.
    package static func setModificationTime(_ descriptor: Int32, nanoseconds: Int64) throws(Errno) {
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let modified = timespec(
            tv_sec: Int(rest < 0 ? seconds - 1 : seconds), tv_nsec: Int(rest < 0 ? rest + 1_000_000_000 : rest))
        // UTIME_OMIT, a macro the importer refuses, keeps the time of access.
        let times = [timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2), modified]
        _ = try systemCall(.futimens, descriptor: descriptor) { futimens(descriptor, times) }
    }

    /// The absolute path without links. Corresponds to `realpath`.
    package static func realpath(_ path: [UInt8]) throws(Errno) -> [UInt8] {
        var resolved: [UInt8] = []
        _ = try systemCall(.realpath, path: path) { cPath -> Int32 in
            guard let result = Glibc.realpath(cPath, nil) else { return -1 }
            resolved = bytes(of: result)
            free(result)
            return 0
        }
        return resolved
    }

    /// The text of a link. Corresponds to `readlink`.
    package static func readlink(_ path: [UInt8]) throws(Errno) -> [UInt8] {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = try systemCall(.readlink, path: path) { Glibc.readlink($0, &target, target.count) }
        return target[..<count].map(UInt8.init(bitPattern:))
    }

    /// The working directory. Corresponds to `getcwd`.
    package static func getcwd() throws(Errno) -> [UInt8] {
        var path: [UInt8] = []
        _ = try systemCall(.getcwd) { () -> Int32 in
            guard let result = Glibc.getcwd(nil, 0) else { return -1 }
            path = bytes(of: result)
            free(result)
            return 0
        }
        return path
    }

    /// Changes the working directory of the whole process. Corresponds to `chdir`.
    package static func chdir(_ path: [UInt8]) throws(Errno) {
        _ = try systemCall(.chdir, path: path) { Glibc.chdir($0) }
    }

    /// The bytes of a C string, without its NUL.
    static func bytes(of cString: UnsafePointer<CChar>) -> [UInt8] {
        [UInt8](UnsafeRawBufferPointer(start: cString, count: strlen(cString)))
    }
}
