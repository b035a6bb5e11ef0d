import Glibc
import LinuxSystem
import TransferModel

/// Fetches what opens a server: a command's output or a netrc file. Blocks: on a worker.
enum CredentialSource {
    enum Found: Sendable {
        case user(String, password: String)
        case netrc(Netrc)
        case failed(TransferError)
    }

    /// A command may ask a keyring, and that a person; not for ever.
    static let patience: Int32 = 60_000

    static func fetch(_ secrets: TransferSecrets) -> Found {
        if let command = secrets.passwordCommand { return run(command, user: secrets.user ?? "") }
        guard let file = secrets.netrcFile else { return .user(secrets.user ?? "", password: secrets.password ?? "") }
        do {
            return .netrc(Netrc(String(decoding: try contents(file), as: UTF8.self)))
        } catch {
            return .failed(
                TransferError(.permissionDenied, "\(file.displayed) cannot be read (\(error)): mend it and retry"))
        }
    }

    private static func contents(_ file: RawPath) throws(Errno) -> [UInt8] {
        let opened = try System.open(file.bytes, flags: O_RDONLY | O_NONBLOCK)
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        var failure: Errno?
        let count = bytes.withUnsafeMutableBytes { buffer -> Int in
            do throws(Errno) {
                return try System.preadAll(opened.rawValue, buffer, at: 0)
            } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw failure }
        return Array(bytes[..<count])
    }

    /// The first line of what the command prints.
    private static func run(_ command: String, user: String) -> Found {
        func failed(_ why: String) -> Found {
            .failed(TransferError(.permissionDenied, "the password command \(why): mend it and retry"))
        }
        do {
            let pipe = try System.pipe()
            var program = ChildProgram("/bin/sh", ["-c", command], environment: environment())
            program.standardOutput = pipe.write.rawValue
            let child = try ChildProcess(program)
            pipe.write.close()
            let output = try firstLine(pipe.read, child)
            guard let output else {
                try child.signal(SIGKILL)
                _ = try child.wait()
                return failed("does not end")
            }
            guard case .exited(0) = try child.wait() else { return failed("failed") }
            return .user(user, password: output)
        } catch {
            return failed("cannot be run (\(error))")
        }
    }

    /// `nil`: it took too long.
    private static func firstLine(_ descriptor: OwnedDescriptor, _ child: ChildProcess) throws(Errno) -> String? {
        var output: [UInt8] = []
        let deadline = MonotonicInstant.now.advanced(by: .milliseconds(Int64(patience)))
        var chunk = [UInt8](repeating: 0, count: 4096)
        while output.count < 1 << 16 {
            let left = MonotonicInstant.now.duration(to: deadline)
            var waiting = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
            let ready = poll(&waiting, 1, Int32(clamping: left.components.seconds * 1000 + 1))
            if left <= .zero || ready == 0 { return nil }
            if ready < 0 { continue }
            let count = chunk.withUnsafeMutableBytes { buffer in
                read(descriptor.rawValue, buffer.baseAddress, buffer.count)
            }
            if count <= 0 { break }
            output += chunk[..<count]
        }
        return String(decoding: output.prefix { $0 != 10 && $0 != 13 }, as: UTF8.self)
    }

    private static func environment() -> [String] {
        ["HOME", "USER", "PATH", "LANG", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"].compactMap { name in
            System.environment(name).map { "\(name)=\(String(decoding: $0, as: UTF8.self))" }
        }
    }
}
