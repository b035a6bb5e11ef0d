// Terminal: ncurses, the keyboard and the terminal's modes behind values: a grid goes out, key presses come in, and what was there before
// is restored on every way out.
//
// For whom: TerminalUI. Which thread: the screen's event loop, alone. Start reading here; `Canvas` draws into a `Grid`, `Grid+Changes`
// finds what differs from the last frame, `KeyDecoder` and `SequenceGrammar` turn bytes into `KeyPress`es (a split sequence is never a
// command), `JobControl` and `SignalPipe` are suspend and resume, CTerminalRescue what happens after a crash.

package import DisplayText
import Glibc
import CTerminalRescue

/// The terminal while the program draws on it: a full screen to draw on, keys to read, and the promise that the
/// terminal is as before afterwards, however the program ends (SIGKILL excepted).
///
/// One thread owns it, the screen's event loop: watch `inputDescriptor` and `signalDescriptor` for reading, keep a
/// timer for `inputDeadline`, and call `readInput`, `takeSignals` and `show`. None of them waits.
///
/// ```
/// let screen = try Screen(Screen.Options())
/// defer { screen.close() }
/// screen.show(grid, cursor: Cursor(row: 3, column: 4))
/// ```
package final class Screen {
    package struct Options {
        package var color = ColorMode.auto
        /// Nil: by COLORFGBG.
        package var theme: Theme?
        /// Own colours in place of the theme's, 0 to 255; -1: the terminal's text.
        package var colors: [Role: Int] = [:]
        /// True: draws on the alternate screen. False: the last picture stays when the screen is left.
        package var alternate = true
        /// The file that descriptor 2 writes to while the screen is open; /dev/null when nil.
        package var standardErrorPath: String?
        /// True when presses of the mouse are reported from the start.
        package var mouse = false
        /// True when the window's focus is reported from the start.
        package var focus = false
        /// The time that Esc waits for the rest of a sequence; nil is ESCDELAY or 25 ms.
        package var escapeDelay: Duration?

        package init() {}
    }

    /// An action that a signal asks for.
    package enum Event: Hashable, Sendable {
        /// The size changed, or the program came back from a stop: lay out and show again.
        case redraw
        /// SIGTERM, SIGHUP, SIGINT or SIGQUIT: close and end, for instance with `end(bySignal:)`.
        case end(signal: Int32)
    }

    private enum State {
        /// Drawing. `suspended` or `closed` follow.
        case open
        /// Stopped, or about to be; the terminal belongs to somebody else. `open` or `closed` follow.
        case suspended
        /// Over.
        case closed
    }

    /// The size as the terminal reports it now; `redraw` says when to look again.
    package private(set) var size: ScreenSize
    /// The characters that the terminal can show; for `SafeText` and the choice of glyphs.
    package let characterSet: CharacterSet
    /// Things a person should be told once, such as an unknown TERM.
    package let notes: [String]
    /// True while presses of the mouse are reported. When false, plain dragging selects text.
    package var isMouseOn: Bool {
        didSet {
            if state == .open && isMouseOn != oldValue {
                write(isMouseOn ? TerminalModes.mouseOn : TerminalModes.mouseOff)
            }
        }
    }

    /// True while the window's focus is reported.
    package var reportsFocus: Bool {
        didSet {
            if state == .open && reportsFocus != oldValue {
                write(reportsFocus ? TerminalModes.focusOn : TerminalModes.focusOff)
            }
        }
    }

    private let device: TerminalDevice
    private let signals: SignalPipe
    private var canvas: Canvas?
    private var decoder: KeyDecoder
    private var redirection: StandardErrorRedirection
    private let understandsModes: Bool
    private var state = State.open
    /// The grid that ncurses was given last; nil when nothing is known about the terminal's cells.
    private var shown: Grid?
    private var shownCursor: Cursor?
    /// The window's title, when it is ours.
    private var shownTitle: SafeText?
    private var isHungUp = false
    private let usesAlternate: Bool

    /// Opens the controlling terminal and takes it over.
    package init(_ options: Options) throws(TerminalError) {
        characterSet = TextLocale.adopt()
        let environment = { (name: String) in getenv(name).map { String(cString: $0) } }
        let term = environment("TERM") ?? ""
        guard term != "dumb" else { throw .unusableTerminal(name: term) }
        device = try TerminalDevice()
        signals = try SignalPipe()
        redirection = StandardErrorRedirection(path: options.standardErrorPath)
        redirection.begin()
        device.armRescue(standardError: redirection.saved)
        signals.remember()
        // Before ncurses begins: where SIGTSTP is somebody's it leaves it alone, else it ignores it during every frame.
        signals.start()
        let color = ColorRequest(
            mode: options.color, theme: options.theme ?? Theme(colorFgBg: environment("COLORFGBG")),
            noColor: environment("NO_COLOR"), own: options.colors)
        do throws(TerminalError) {
            canvas = try Canvas(
                descriptor: device.output, names: Self.candidates(term), size: device.size, color: color)
        } catch {
            device.restoreModes()
            CTerminalRescue_disarm()
            signals.stop()
            redirection.end()
            throw error
        }
        let taken = canvas?.terminal ?? term
        notes = taken == term ? [] : ["This system does not know the terminal \"\(term)\"; \"\(taken)\" is used."]
        understandsModes = TerminalModes.understands(taken)
        var limits = KeyDecoder.Limits()
        limits.escape = options.escapeDelay ?? Self.escapeDelay(environment("ESCDELAY")) ?? limits.escape
        decoder = KeyDecoder(table: .ofTerminal(), limits: limits)
        usesAlternate = options.alternate
        isMouseOn = options.mouse
        reportsFocus = options.focus
        size = device.size
        canvas?.resize(to: size)
        enterModes()
    }

    deinit { close() }

    /// TERM, then what nearly every terminal of today obeys, then what every terminal ever obeyed.
    private static func candidates(_ term: String) -> [String] { [term, "xterm-256color", "vt100"] }

    private static func escapeDelay(_ variable: String?) -> Duration? {
        variable.flatMap { Int($0) }.flatMap { 0...10_000 ~= $0 ? .milliseconds($0) : nil }
    }

    // MARK: - Drawing

    /// Brings a picture to the terminal: only the cells that changed, in one go. The cursor ends where it is asked to.
    ///
    /// - Returns: false when the terminal does not take output now, or is not ours; then nothing was sent, and it
    ///   should be shown again when `outputDescriptor` is writable, or at the next event.
    @discardableResult
    package func show(_ grid: Grid, cursor: Cursor) -> Bool {
        guard state == .open, let canvas, device.takesOutput else { return false }
        let cursor = inside(cursor)
        if grid == shown && cursor == shownCursor { return true }
        for run in grid.changes(from: shown) { canvas.draw(run, of: grid) }
        shown = grid
        shownCursor = cursor
        canvas.flush(cursor)
        return true
    }

    /// Sends everything again at the next `show`, whatever another program wrote over it (`^L`).
    package func forgetTerminal() {
        guard state == .open else { return }
        shown = nil
        shownCursor = nil
        canvas?.forgetTerminal()
    }

    /// Takes the colours for another background; nil: by COLORFGBG.
    package func use(_ theme: Theme?) {
        canvas?.use(theme ?? Theme(colorFgBg: getenv("COLORFGBG").map { String(cString: $0) }))
        shown = nil
    }

    /// Rings.
    package func bell() { if state == .open { write(TerminalModes.bell) } }

    /// Asks the terminal for a notification on the desktop; one that does not understand passes over it.
    /// - Parameter isTitled: by OSC 777, which has a title; else by OSC 9.
    package func notify(_ text: SafeText, isTitled: Bool) {
        guard state == .open else { return }
        write(TerminalModes.notification(text.string, isTitled: isTitled, insideTmux: getenv("TMUX") != nil))
    }

    /// More than this no terminal is asked to take into its clipboard.
    package static let mostCopied = 48 * 1024

    /// Hands text to the terminal's clipboard; whether it takes it, no terminal says.
    /// - Returns: false: it was not asked.
    package func copy(_ bytes: [UInt8]) -> Bool {
        guard state == .open, understandsModes, bytes.count <= Self.mostCopied else { return false }
        write(TerminalModes.clipboard(bytes))
        return true
    }

    /// Names the window; what it was called before comes back when the terminal is given back. `nil`: leaves it alone.
    package func showTitle(_ text: SafeText?) {
        guard state == .open, understandsModes, text != shownTitle, device.takesOutput else { return }
        guard let text else { return restoreTitle() }
        write((shownTitle == nil ? TerminalModes.titleSaved : "") + TerminalModes.title(text.string))
        shownTitle = text
    }

    private func restoreTitle() {
        if shownTitle != nil { write(TerminalModes.titleRestored) }
        shownTitle = nil
    }

    /// For waiting until `show` can draw again.
    package var outputDescriptor: Int32 { device.output }

    private func inside(_ cursor: Cursor) -> Cursor {
        Cursor(
            row: min(max(0, cursor.position.row), size.rows - 1),
            column: min(max(0, cursor.position.column), size.columns - 1), isVisible: cursor.isVisible)
    }

    // MARK: - Input

    /// Readable when something was typed. Never blocks.
    package var inputDescriptor: Int32 { device.input }

    /// When `readInput` must be called even though nothing was typed, because Esc waits; nil mostly.
    package var inputDeadline: ContinuousClock.Instant? { decoder.nextDeadline }

    /// Everything that was typed, at once: so that one frame can follow, not one a key. Also gives out what has waited
    /// long enough. After `Input.closed` the descriptor must not be watched any more.
    package func readInput(at now: ContinuousClock.Instant = .now) -> [Input] {
        guard state != .closed, !isHungUp else { return [] }
        guard let bytes = device.read() else {
            isHungUp = true
            return decoder.expire(at: now) + [.closed]
        }
        return bytes.isEmpty ? decoder.expire(at: now) : decoder.feed(bytes, at: now)
    }

    // MARK: - Signals

    /// Readable when a signal came. Never blocks.
    package var signalDescriptor: Int32 { signals.descriptor }

    /// Handles the signals that came: many resizes become one, a stop stops us, a continue brings the screen back.
    package func takeSignals() -> [Event] {
        var events: [Event] = []
        var needsRedraw = false
        for signal in signals.take() {
            switch signal {
            case SIGWINCH: needsRedraw = state == .open
            case SIGTSTP: suspend()
            case SIGCONT: needsRedraw = comeBack()
            default: events.append(.end(signal: signal))
            }
        }
        if needsRedraw {
            size = device.size
            canvas?.resize(to: size)
            forgetTerminal()
            events.insert(.redraw, at: 0)
        }
        return events
    }

    // MARK: - Leaving and coming back

    /// Gives the terminal back and stops, as Ctrl-Z asks for. The loop goes on when the shell continues us; then
    /// `takeSignals` brings the screen back and says `redraw`.
    ///
    /// - Returns: false when nobody could ever continue us (a window opened for this program alone).
    @discardableResult
    package func suspend() -> Bool {
        guard state == .open else { return true }
        let situation = JobControl.situation
        guard situation != .alone else { return false }
        leave()
        state = .suspended
        JobControl.stop(situation)
        return true
    }

    /// After SIGCONT: takes the terminal again. In the background (`bg`) it stops once more, because `fg` does not
    /// send a running process another signal.
    private func comeBack() -> Bool {
        guard state != .closed else { return false }
        if state == .open { leave() }
        state = .suspended
        guard device.isForeground else {
            raise(SIGTTOU)
            return false
        }
        state = .open
        redirection.begin()
        device.armRescue(standardError: redirection.saved)
        signals.start()
        canvas?.comeBack()
        enterModes()
        return true
    }

    /// Gives the terminal away for as long as `body` runs, which is then in the foreground as we were.
    func lend<Result>(_ body: () -> Result) -> Result {
        guard state == .open else { return body() }
        leave()
        state = .suspended
        signals.stop()
        let result = body()
        _ = comeBack()
        size = device.size
        canvas?.resize(to: size)
        forgetTerminal()
        return result
    }

    /// Gives the terminal back for good. Printing is free afterwards. Calling it twice does nothing.
    package func close() {
        guard state != .closed else { return }
        if state == .open { leave() }
        state = .closed
        canvas = nil
        signals.stop()
    }

    /// Closes and ends the process as the signal would have ended it, so that whoever waits for us sees it.
    package func end(bySignal signal: Int32) -> Never {
        close()
        Glibc.signal(signal, SIG_DFL)
        raise(signal)
        exit(128 + signal)
    }

    private func enterModes() {
        // ncurses has switched pages already. What stands on the one below is pushed up, not drawn over.
        if !usesAlternate { write(TerminalModes.samePage(rows: device.size.rows)) }
        var modes = TerminalModes.enter
        if reportsFocus { modes += TerminalModes.focusOn }
        if isMouseOn { modes += TerminalModes.mouseOn }
        write(modes)
    }

    private func leave() {
        restoreTitle()
        write(TerminalModes.mouseOff + (reportsFocus ? TerminalModes.focusOff : "") + TerminalModes.leave)
        canvas?.leave()
        if !usesAlternate { write(TerminalModes.below) }
        device.restoreModes()
        CTerminalRescue_disarm()
        redirection.end()
        decoder = decoder.restarted()
        shown = nil
        shownCursor = nil
    }

    private func write(_ modes: String) { if understandsModes { device.write(modes) } }
}
