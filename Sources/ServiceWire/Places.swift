import Glibc
import TransferModel

/// The paths of an installation of Martlet. The front, the engine and the library all resolve these names here, so that
/// whoever asks finds the same queue and the same socket.
package struct Places: Equatable, Sendable {
    /// The choice that the environment made; kept so that an engine that we start makes the same.
    private enum Root: Equatable, Sendable {
        case isolated(String)
        case standard(configuration: String, state: String)
    }

    private let root: Root

    /// The program named by `MARTLET_ENGINE`, to be started instead of the `martletd` beside the front.
    package let engineOverride: String?

    /// Resolves the places from an environment. An empty variable counts as missing, and so does a relative XDG
    /// variable (the XDG base directory specification says so); a relative `MARTLET_HOME` is taken from
    /// `currentDirectory`, because the engine will run in another one.
    package init(environment: [String: String], currentDirectory: String) throws(PlacesError) {
        func variable(_ name: String) -> String? {
            guard let value = environment[name], !value.isEmpty else { return nil }
            return value
        }
        func absolute(_ path: String) -> String {
            Self.withoutTrailingSlash(path.hasPrefix("/") ? path : currentDirectory + "/" + path)
        }
        func standard(_ name: String, below tail: String) throws(PlacesError) -> String {
            if let base = variable(name), base.hasPrefix("/") { return Self.withoutTrailingSlash(base) }
            guard let home = variable("HOME"), home.hasPrefix("/") else { throw .homeUnknown }
            return Self.withoutTrailingSlash(home) + tail
        }
        if let home = variable("MARTLET_HOME") {
            root = .isolated(absolute(home))
        } else {
            root = .standard(
                configuration: try standard("XDG_CONFIG_HOME", below: "/.config"),
                state: try standard("XDG_STATE_HOME", below: "/.local/state"))
        }
        engineOverride = variable("MARTLET_ENGINE").map(absolute)
    }

    /// The places of this process.
    package static func current() throws(PlacesError) -> Places {
        var environment: [String: String] = [:]
        for name in ["MARTLET_HOME", "MARTLET_ENGINE", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME"] {
            guard let value = getenv(name) else { continue }
            guard let text = String(validatingCString: value) else { throw .notUTF8(variable: name) }
            environment[name] = text
        }
        if environment["HOME", default: ""].isEmpty {
            environment["HOME"] = homeOfUser()
        }
        return try Places(environment: environment, currentDirectory: workingDirectory())
    }

    /// Holds `martlet.conf`, `destinations.conf` and `keys.conf`.
    package var configurationDirectory: String {
        switch root {
        case .isolated(let home): home + "/config"
        case .standard(let configuration, _): configuration + "/martlet"
        }
    }

    /// Holds the queue, the secrets, the log and the socket; 0700.
    package var stateDirectory: String {
        switch root {
        case .isolated(let home): home + "/state"
        case .standard(_, let state): state + "/martlet"
        }
    }

    /// Folders to which nobody else may lead: that of the configuration, in which commands may stand, and the one in which the state is.
    package var ways: [String] {
        switch root {
        case .isolated(let home): [home, configurationDirectory]
        case .standard(_, let state): [state, configurationDirectory]
        }
    }

    /// Settings of engine and screen.
    package var configurationFile: String { configurationDirectory + "/martlet.conf" }
    /// Configured servers.
    package var destinationsFile: String { configurationDirectory + "/destinations.conf" }
    /// The user's keys.
    package var keysFile: String { configurationDirectory + "/keys.conf" }
    /// The durable queue.
    package var queueFile: String { stateDirectory + "/queue.sqlite" }
    /// The secrets that the work needs to go on; 0600.
    package var secretsFile: String { stateDirectory + "/secrets.sqlite" }
    /// Locked by the one engine of this queue; pid and version inside.
    package var lockFile: String { stateDirectory + "/queue.lock" }
    /// The engine's log files.
    package var logDirectory: String { stateDirectory + "/log" }
    /// Holds the tokens of receivers on this machine.
    package var receiverDirectory: String { stateDirectory + "/" + ReceiverToken.folderName }
    /// Holds the control socket. The socket is reached through `/proc/self/fd/N/control.sock`, N being this
    /// directory opened with O_PATH, because `sun_path` has 108 bytes and a state directory may be longer.
    package var socketDirectory: String { stateDirectory + "/run" }
    /// The control socket's name inside ``socketDirectory``.
    package static let socketName = "control.sock"
    /// The control socket as people see it; too long for `connect` perhaps, see ``socketDirectory``.
    package var socketFile: String { socketDirectory + "/" + Self.socketName }

    /// The variables that make another program resolve the same places.
    package var environment: [String: String] {
        switch root {
        case .isolated(let home): ["MARTLET_HOME": home]
        case .standard(let configuration, let state):
            ["XDG_CONFIG_HOME": configuration, "XDG_STATE_HOME": state]
        }
    }

    /// The engine to start: ``engineOverride``, else `martletd` beside `executable` (an absolute path).
    package func engineProgram(beside executable: String) -> String {
        engineOverride ?? Self.sibling("martletd", of: executable)
    }

    /// A program installed in the directory of `executable` (an absolute path).
    package static func sibling(_ name: String, of executable: String) -> String {
        guard let slash = executable.lastIndex(of: "/") else { return name }
        return executable[...slash] + name
    }

    private static func withoutTrailingSlash(_ path: String) -> String {
        var path = Substring(path)
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return String(path)
    }

    /// getcwd(3); a deleted directory has no name, then relative variables are taken from the root.
    private static func workingDirectory() -> String {
        guard let path = getcwd(nil, 0) else { return "/" }
        defer { free(path) }
        return String(cString: path)
    }

    /// getpwuid_r(3): the home directory of the user database, for an environment without HOME.
    private static func homeOfUser() -> String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16384) { buffer in
            guard let base = buffer.baseAddress,
                getpwuid_r(getuid(), &entry, base, buffer.count, &found) == 0, found != nil,
                let home = entry.pw_dir
            else { return nil }
            return String(cString: home)
        }
    }
}

/// The reasons for which no places could be found.
package enum PlacesError: Error, Equatable, Sendable {
    /// Neither HOME nor the user database says where the user lives.
    case homeUnknown
    /// A variable holds bytes that are no text.
    case notUTF8(variable: String)

    /// The problem and its remedy, in the form of every message of ours.
    package var message: String {
        switch self {
        case .homeUnknown: "no home directory is known: set HOME, or MARTLET_HOME to a directory of your own"
        case .notUTF8(let variable): "\(variable) is not UTF-8: give it another path"
        }
    }
}
