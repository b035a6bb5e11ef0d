import LinuxSystem
import TransferModel

/// The meaning, in words, of the end of an ssh that was to reach another machine's engine.
enum RemoteLineEnd {
    /// - Parameters:
    ///   - complaints: the lines of its standard error, harmless.
    ///   - asked: whether it could ask the person.
    static func error(
        _ exit: ChildExit, _ complaints: [String], _ remote: RemoteEngine, asked: Bool
    ) -> RequestError {
        let machine = remote.machine
        let last = complaints.last.map { ": " + shortened($0.hasPrefix("ssh: ") ? String($0.dropFirst(5)) : $0) } ?? ""
        func has(_ words: String...) -> Bool {
            complaints.contains { line in words.contains { line.lowercased().contains($0) } }
        }
        switch exit {
        case .exited(127):
            return unreachable(
                "\(machine) has no martlet in its PATH: install it there, or name it with --remote-command")
        // Every martlet knows its commands: one that does not know this one is older.
        case .exited(2) where has("no command \"relay\""):
            return unreachable("the martlet of \(machine) is too old: install the version of this one there")
        case .exited(255) where !asked && has("permission denied", "host key verification failed"):
            // What a person would have been asked for cannot be asked on a screen.
            return unreachable("\(machine) asks who you are (ssh\(last)): leave, and attach again")
        case .exited(255), .signalled:
            return unreachable("no line to \(machine) (ssh\(last.isEmpty ? " ended" : last))")
        case .exited(let status):
            return unreachable("martlet ended on \(machine) with status \(status)\(last)")
        }
    }

    /// The program could not be started.
    static func notStarted(_ error: Errno, _ program: [UInt8]) -> RequestError {
        unreachable(
            "\(RawPath(program).displayed) cannot be run (\(error)): install openssh-client, or mend --ssh-command")
    }

    static func tookTooLong(_ remote: RemoteEngine) -> RequestError {
        unreachable("no line to \(remote.machine) (it did not answer for a minute)")
    }

    static func talksTooMuch(_ remote: RemoteEngine) -> RequestError {
        unreachable(
            "\(remote.machine) prints more than 1 MiB before its engine answers: "
                + "keep its shell's start-up files silent, then attach again")
    }

    private static func unreachable(_ message: String) -> RequestError { RequestError(.engineUnreachable, message) }

    private static func shortened(_ line: String) -> String { line.count > 200 ? "\(line.prefix(200))…" : line }
}
