import Digests
import Glibc
package import LinuxSystem
import TransferModel

/// The token that a receiver makes itself and keeps for programs of the same user. One for each port, so several receivers have
/// several, and a receiver that comes back on its port has the token with which work was queued.
struct KeptToken {
    let token: [UInt8]
    /// The file that holds it.
    let path: [UInt8]

    /// Finds the port's token, or makes it. `state` is the state directory; it and the folder in it must be this user's alone.
    static func load(in state: [UInt8], port: UInt16) throws(KeptTokenError) -> KeptToken {
        let folderName = Array(ReceiverToken.folderName.utf8)
        let folderPath = state + [UInt8(ascii: "/")] + folderName
        let name = Array(ReceiverToken.fileName(port: port).utf8)
        let path = folderPath + [UInt8(ascii: "/")] + name
        let folder = try step(state) { () throws(PrivacyFailure) in
            do throws(Errno) { try System.mkdirs(state) } catch { throw .failed(error) }
            return try System.openPrivateFolder(state)
        }
        let kept = try step(folderPath) { () throws(PrivacyFailure) in
            try System.openPrivateFolder(folderName, at: folder.rawValue, making: true)
        }
        return try step(path) { () throws(PrivacyFailure) in
            do throws(PrivacyFailure) {
                let file = try System.openPrivateFile(name, at: kept.rawValue)
                if let token = try ReceiverToken.token(in: contents(of: file)) {
                    return KeptToken(token: token, path: path)
                }
            } catch .failed(.noSuchFile) {}
            return KeptToken(token: try make(name, in: kept), path: path)
        }
    }

    /// Random bytes in the token; nobody guesses them.
    private static let randomCount = 24

    private static func make(_ name: [UInt8], in folder: OwnedDescriptor) throws(PrivacyFailure) -> [UInt8] {
        do throws(Errno) {
            let token = Array(Hexadecimal.encode(try System.randomBytes(randomCount)).utf8)
            let temporary = name + Array(".\(Hexadecimal.encode(try System.randomBytes(4))).new".utf8)
            let file = try System.openat(
                folder.rawValue, temporary, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            do throws(Errno) {
                let written = (token + [UInt8(ascii: "\n")]).withUnsafeBytes { bytes in
                    Result { () throws(Errno) in try System.writeAll(file.rawValue, bytes) }
                }
                try written.get()
                try System.fsync(file.rawValue)
                try System.renameat(folder.rawValue, temporary, to: folder.rawValue, name)
            } catch {
                try? System.unlinkat(folder.rawValue, temporary)
                throw error
            }
            try System.fsync(folder.rawValue)
            return token
        } catch {
            throw .failed(error)
        }
    }

    private static func contents(of file: OwnedDescriptor) throws(PrivacyFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count: Result<Int, Errno> = bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(Errno) in try System.preadAll(file.rawValue, buffer, at: 0) }
        }
        do throws(Errno) { return Array(bytes[..<(try count.get())]) } catch { throw .failed(error) }
    }

    private static func step<T>(
        _ path: [UInt8], _ body: () throws(PrivacyFailure) -> T
    ) throws(KeptTokenError) -> T {
        do throws(PrivacyFailure) { return try body() } catch { throw KeptTokenError(path: path, failure: error) }
    }
}

/// The reason for which no token can be kept: this path is not what it must be.
package struct KeptTokenError: Error, Equatable, Sendable {
    package let path: [UInt8]
    package let failure: PrivacyFailure
}
