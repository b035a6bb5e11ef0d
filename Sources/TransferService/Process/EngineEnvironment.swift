import Glibc
import LinuxSystem

/// The engine's surroundings are decided, not inherited: whoever starts it, it is the same engine.
enum EngineEnvironment {
    /// The environment variables that are kept: who and where the user is, how text looks, where the queue and the user's ssh agent are.
    /// The rest, proxies above all, comes with each batch.
    private static let kept: Set<String> = {
        var names: Set = [
            "HOME", "USER", "LOGNAME", "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "MARTLET_HOME", "XDG_CONFIG_HOME",
            "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK",
            "DBUS_SESSION_BUS_ADDRESS",
        ]
        #if DEBUG
            names.insert("MARTLET_FAULT")
        #endif
        return names
    }()

    /// Sets directory, umask, environment and signals. Before any thread is started and after the places were found.
    static func decide() {
        var names: [String] = []
        var entry = environ
        while let text = entry.pointee {
            names.append(String(String(cString: text).prefix { $0 != "=" }))
            entry += 1
        }
        for name in names where !kept.contains(name) { unsetenv(name) }
        System.umask(0o077)
        // Nothing of ours is named by a relative path, and no file system is kept from being unmounted.
        try? System.chdir(Array("/".utf8))
        Signals.ignoreBrokenPipe()
        _ = signal(SIGHUP, SIG_IGN)
        Signals.block([SIGTERM, SIGINT])
    }
}
