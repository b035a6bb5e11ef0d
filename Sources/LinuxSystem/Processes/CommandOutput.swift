import Glibc

/// The output of a program that somebody waited for, or the reason why there is none.
package enum CommandOutput: Sendable, Equatable {
    /// All of it, of a program that ended well.
    case printed([UInt8])
    /// It ended otherwise.
    case failed(ChildExit)
    /// It did not end in time, and was killed.
    case endless

    /// Reading stops after this many bytes.
    private static let most = 1 << 16

    /// The time that a program gets: it may ask a keyring, and the keyring a person.
    package static let patience = Duration.seconds(60)

    /// Starts a program and reads what it prints. Blocks: on a ``BlockingWorker``.
    package static func read(
        of program: ChildProgram, within patience: Duration = patience
    ) throws(Errno) -> CommandOutput {
        let pipe = try System.pipe()
        var program = program
        program.standardOutput = pipe.write.rawValue
        let child = try ChildProcess(program)
        pipe.write.close()
        let deadline = MonotonicInstant.now.advanced(by: patience)
        let bytes = all(of: pipe.read, until: deadline)
        // Whoever prints more than is read finds nobody there.
        pipe.read.close()
        guard let bytes, child.hasEnded(by: deadline) else {
            try child.signal(SIGKILL)
            _ = try child.wait()
            return .endless
        }
        let exit = try child.wait()
        return exit == .exited(0) ? .printed(bytes) : .failed(exit)
    }

    /// `nil`: it took too long.
    private static func all(of descriptor: OwnedDescriptor, until deadline: MonotonicInstant) -> [UInt8]? {
        var output: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while output.count < most {
            let left = MonotonicInstant.now.duration(to: deadline)
            var waiting = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
            let ready = poll(&waiting, 1, Int32(clamping: left.components.seconds * 1000 + 1))
            if left <= .zero || ready == 0 { return nil }
            if ready < 0 { continue }
            let count = chunk.withUnsafeMutableBytes { Glibc.read(descriptor.rawValue, $0.baseAddress, $0.count) }
            if count <= 0 { break }
            output += chunk[..<count]
        }
        return output
    }
}
