import Configuration
import Glibc
import LinuxSystem

/// The fate of this machine's engine when the person logs out: systemd ends what belongs to a login.
package enum LogoutEffect: Hashable, Sendable {
    /// Nothing would end it.
    case none
    /// It runs under the user's own service manager, which ends with the last login unless lingering is on.
    case endsWithoutLingering
    /// It belongs to this login, and KillUserProcesses is on.
    case endsWithSession

    /// - Parameters:
    ///   - cgroup: `/proc/PID/cgroup` of the engine.
    ///   - lingers: whether lingering is on for the user.
    ///   - killsProcesses: `KillUserProcesses` of logind.
    package init(cgroup: String, lingers: Bool, killsProcesses: Bool) {
        let parts = cgroup.split(whereSeparator: { $0 == "/" || $0 == "\n" || $0 == ":" })
        if parts.contains(where: { $0.hasPrefix("session-") && $0.hasSuffix(".scope") }) {
            self = killsProcesses ? .endsWithSession : .none
        } else if parts.contains(where: { $0.hasPrefix("user@") && $0.hasSuffix(".service") }) {
            self = lingers ? .none : .endsWithoutLingering
        } else {
            self = .none
        }
    }

    /// True when logind's files, the later ones winning, say that a login's processes end with it.
    package static func killsProcesses(_ files: [[UInt8]]) -> Bool {
        let words = files.compactMap { INIDocument(bytes: $0).value("KillUserProcesses", in: "Login") }
        return words.last.map { ["yes", "true", "on", "1"].contains($0.lowercased()) } ?? false
    }

    /// Looks at an engine of this machine; blocks on disks.
    package static func look(engine pid: Int32) -> LogoutEffect {
        // logind leaves root's processes alone. Where /proc hides what belongs to the engine, which refuses dumps, it is taken for one that this
        // login has started, as it mostly was.
        guard getuid() != 0, Glibc.kill(pid, 0) == 0,
            let cgroup = SmallFile.contents("/proc/\(pid)/cgroup") ?? SmallFile.contents("/proc/self/cgroup")
        else { return .none }
        let user = UserEntry.own?.name
        let lingers = user.map { (try? System.stat(Array("/var/lib/systemd/linger/\($0)".utf8))) != nil } ?? false
        let files = ["/usr/lib/systemd/logind.conf", "/etc/systemd/logind.conf"].compactMap { SmallFile.contents($0) }
        // By their names, whichever folder they are in; of one name the last folder's counts.
        let drops = ["/usr/lib", "/run", "/etc"].reduce(into: [String: [UInt8]]()) { found, root in
            found.merge(fragments(in: "\(root)/systemd/logind.conf.d")) { $1 }
        }
        return LogoutEffect(
            cgroup: String(decoding: cgroup, as: UTF8.self), lingers: lingers,
            killsProcesses: killsProcesses(files + drops.sorted { $0.key < $1.key }.map(\.value)))
    }

    private static func fragments(in folder: String) -> [String: [UInt8]] {
        var names: [[UInt8]] = []
        FolderReader.read(Array(folder.utf8), FolderOrder(.name), isWanted: { true }) { snapshot in
            names = snapshot.entries.map(\.name)
        }
        return names.reduce(into: [:]) { found, bytes in
            let name = String(decoding: bytes, as: UTF8.self)
            if name.hasSuffix(".conf") { found[name] = SmallFile.contents(Array("\(folder)/".utf8) + bytes) }
        }
    }

    /// Turns lingering on for the user, as `loginctl enable-linger` does; blocks until it has answered.
    /// - Returns: why it is not on; `nil`: it is.
    package static func allowLingering() -> String? {
        var program = ChildProgram("loginctl", ["--no-ask-password", "enable-linger"])
        program.startsSession = true
        guard let process = try? ChildProcess(program) else {
            return "loginctl is not there: lingering cannot be turned on from here"
        }
        guard (try? process.wait()) == .exited(0) else {
            return "lingering was refused: type  sudo loginctl enable-linger \(UserEntry.own?.name ?? "USER")"
        }
        return nil
    }
}
