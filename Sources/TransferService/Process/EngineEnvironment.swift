import Glibc
import LinuxSystem

/// The engine's surroundings are decided, not inherited: whoever starts it, it is the same engine.
enum EngineEnvironment {
    /// The environment variables that are kept: who and where the user is, how text looks, where the queue and the user's ssh agent are.
    /// The rest, proxies above all, comes with each batch.
    private static let kept: Set<[UInt8]> = {
        var names = [
            "HOME", "USER", "LOGNAME", "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "MARTLET_HOME", "XDG_CONFIG_HOME",
            "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK",
            "DBUS_SESSION_BUS_ADDRESS",
        ]
        #if DEBUG
            names.append("MARTLET_FAULT")
        #endif
        return Set(names.map { Array($0.utf8) })
    }()

    /// Sets directory, umask, environment and signals. Before any thread is started and after the places were found.
    static func decide() {
        let variables = variables(System.environmentEntries)
        clearenv()
        func text(_ bytes: [UInt8]) -> [CChar] { bytes.map(CChar.init(bitPattern:)) + [0] }
        for (name, value) in variables { setenv(text(name), text(value), 1) }
        System.umask(0o077)
        // Nothing of ours is named by a relative path, and no file system is kept from being unmounted.
        try? System.chdir(Array("/".utf8))
        Signals.ignoreBrokenPipe()
        _ = signal(SIGHUP, SIG_IGN)
        Signals.block([SIGTERM, SIGINT])
    }

    /// The variables that are kept, of entries as the kernel hands them over (environ(7)): any bytes, of which the first `=` ends the name. The
    /// first entry of a name counts, as for getenv(3).
    static func variables(_ entries: [[UInt8]]) -> [(name: [UInt8], value: [UInt8])] {
        var left = kept
        return entries.compactMap { entry in
            guard let end = entry.firstIndex(of: UInt8(ascii: "=")), left.remove(Array(entry[..<end])) != nil else {
                return nil
            }
            return (Array(entry[..<end]), Array(entry[(end + 1)...]))
        }
    }
}
