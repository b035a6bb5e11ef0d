import Glibc
import LinuxSystem

/// A pipe with a name in a folder of ours (0700), for a program that closes what it inherits. Its bytes are in the kernel alone.
final class NamedPipe {
    let path: [UInt8]
    /// Both ends in one, so that none waits for the other.
    let descriptor: OwnedDescriptor
    private var isNamed = true

    /// - Parameter folder: made when it is missing. `EACCES` where it is another user's or others can look into it.
    init(in folder: [UInt8], _ name: String) throws(Errno) {
        try System.mkdirs(folder, mode: 0o700)
        let status = try System.stat(folder)
        guard status.userID == System.userID, status.mode & 0o077 == 0 else { throw .accessDenied }
        let number = try System.randomBytes(8).map { String($0, radix: 16) }.joined()
        path = folder + Array("/\(name)-\(number)".utf8)
        try System.mkfifo(path, mode: 0o600)
        do throws(Errno) {
            descriptor = try System.open(path, flags: O_RDWR | O_NONBLOCK)
        } catch {
            try? System.unlink(path)
            throw error
        }
    }

    /// Takes its name away, once the program has opened it.
    func loseName() {
        if isNamed { try? System.unlink(path) }
        isNamed = false
    }

    deinit { loseName() }
}
