package import Configuration
import FoundationEssentials
import Glibc
package import MartletKit
import Terminal

/// The screen of `martlet`: a viewer of the engine's work, which goes on whether it is open or not.
///
/// `ScreenProgram` is the edge: it hands keys, the engine's news and answers to `Model` as messages, does what the model
/// requests, and shows what `Drawing` makes of it. Everything else here is a value. Start reading at `Model.update`.
/// All of it runs on the main thread's loop.
package enum TerminalUI {
    /// The options of the screen when it opens.
    package struct Options: Sendable {
        /// Settings, with the command line's options on top.
        package var screen = ScreenConfiguration()
        /// The time in which the engine lets a cancel be undone.
        package var grace = Duration.seconds(10)
        /// The user's keys.
        package var keys: [KeyBinding] = []
        /// The parts of `keys.conf` that could not be read.
        package var keyProblems: [ConfigurationProblem] = []
        /// Filters by name.
        package var filters: [SavedFilter] = []
        /// The parts of other files of settings that do not count: sentences, to be said on the screen too.
        package var problems: [String] = []
        /// The person's own colours.
        package var colors = ColorConfiguration()
        /// The settings of the file alone.
        package var configured = ScreenConfiguration()
        /// The state remembered when the screen was left the last time.
        package var kept = KeptScreen()
        /// The reason why that could not be read.
        package var keptProblem: String?
        /// For the engine's log.
        package var client = "martlet"

        package init() {}
    }

    /// First thing in a `main` that will open a screen: see `Backtraces`.
    package static func prepare(arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) {
        Backtraces.neverAsk(arguments: arguments)
    }

    /// Reads what the screen remembers from the last time, and what is the matter with it.
    package static func keptScreen() -> (KeptScreen, problem: String?) {
        guard let engine = try? EngineConnection(ConnectionOptions(launching: .never)),
            let bytes = engine.keptScreen()
        else { return (KeptScreen(), nil) }
        do throws(KeptScreen.Damage) {
            return (try KeptScreen(bytes: bytes), nil)
        } catch {
            return (KeptScreen(), "\(engine.keptScreenFile): \(error.message), so the screen opens as the first time")
        }
    }

    /// Shows the screen of this machine's engine on this thread, the main one, until the person leaves it.
    /// - Returns: the process's exit status.
    package static func run(_ options: Options) throws -> Int32 {
        let engine = try EngineConnection(ConnectionOptions(reconnects: true, client: options.client))
        return try run(options, engine)
    }

    /// The same over a connection that is there already.
    package static func run(_ options: Options, _ engine: EngineConnection) throws -> Int32 {
        let program = try ScreenProgram(options, engine)
        return program.run()
    }

    /// `keys.conf` over the standard keys; what does not count in it is said on the screen.
    static func keyMap(_ options: Options) -> (map: KeyMap, problems: [String]) {
        var (map, problems) = (KeyMap.standard, options.keyProblems)
        map.apply(options.keys, problems: &problems)
        let unreachable = map.unreachable { environment($0).map { !$0.isEmpty } ?? false }
        return (map, problems.sorted { $0.line < $1.line }.map { $0.description(file: "keys.conf") } + unreachable)
    }

    static func appearance(_ screen: ScreenConfiguration, _ terminal: Screen) -> Appearance {
        let language = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment($0) }.first { !$0.isEmpty } ?? ""
        let glyphs = GlyphSet(screen.glyphs, characterSet: terminal.characterSet, language: language)
        return Appearance(
            units: screen.units, glyphs: glyphs, characterSet: terminal.characterSet,
            columns: screen.columns.words.map { Set($0) }, hasClock: screen.clock,
            timeOfDay: { text($0, "%H:%M:%S") }, date: { text($0, "%Y-%m-%d %H:%M:%S") })
    }

    /// By role, for the terminal.
    static func colors(_ colors: ColorConfiguration) -> [Role: Int] {
        let all: [(Role, ScreenColor)] = [
            (.ok, colors.ok), (.active, colors.active), (.info, colors.info), (.warn, colors.warn),
            (.error, colors.error), (.attention, colors.attention), (.dim, colors.dim),
        ]
        return all.reduce(into: [:]) { $0[$1.0] = $1.1.index }
    }

    static func environment(_ name: String) -> String? {
        getenv(name).flatMap { String(validatingCString: $0) }
    }

    /// localtime_r(3), strftime(3).
    private static func text(_ time: Timestamp, _ form: String) -> String {
        var seconds = time_t(time.milliseconds / 1000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        var buffer = [CChar](repeating: 0, count: 64)
        let count = strftime(&buffer, buffer.count, form, &parts)
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// umask(2), which is only told when it is set.
    static let umask: UInt32 = {
        let mask = Glibc.umask(0o077)
        _ = Glibc.umask(mask)
        return UInt32(mask)
    }()

    static var wallTime: Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }
}
