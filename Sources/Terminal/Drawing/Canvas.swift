import CNcurses
import DisplayText
import Glibc

/// ncurses, as far as we use it: cells in, bytes out, and nothing of its input. The library's state is global, so
/// there is one canvas at a time, on one thread.
final class Canvas {
    /// The description in use: TERM, or what was taken instead.
    let terminal: String
    private let screen: OpaquePointer
    private let output: UnsafeMutablePointer<FILE>
    private var palette: Palette
    /// The attributes and the pair of each style met so far.
    private var looks: [Style: (attributes: attr_t, pair: Int16)] = [:]
    private var pairs: [Int: Int16] = [:]

    /// Takes over the terminal behind `descriptor` and switches to the alternate screen.
    ///
    /// - Parameters:
    ///   - names: terminal types to try, the first being TERM.
    ///   - size: within the bounds of ours. ncurses makes its cells before anybody can ask for another size, and a terminal may claim
    ///     65535 columns and rows: gigabytes.
    init(
        descriptor: Int32, names: [String], size: ScreenSize, color: ColorRequest
    ) throws(TerminalError) {
        // newterm takes them for the size, before the terminal's word; afterwards they would freeze it (resizeterm(3x)).
        setenv("LINES", "\(size.rows)", 1)
        setenv("COLUMNS", "\(size.columns)", 1)
        defer {
            unsetenv("LINES")
            unsetenv("COLUMNS")
        }
        let file = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard file >= 0, let output = fdopen(file, "r+") else { throw .noTerminal(errno: errno) }
        // newterm, because initscr ends the process when it does not know the terminal.
        var opened: (OpaquePointer, String)?
        for name in names where opened == nil {
            if let screen = newterm(name, output, output) { opened = (screen, name) }
        }
        guard let (screen, terminal) = opened else {
            fclose(output)
            throw .unusableTerminal(name: names.first ?? "")
        }
        (self.screen, self.terminal, self.output) = (screen, terminal, output)

        // Keys such as ^C, ^Z and ^S come as keys; Enter comes as a carriage return.
        raw()
        noecho()
        nonl()
        // Application mode for arrows and keypad; ncurses takes it back in endwin.
        keypad(CNcurses_stdscr(), true)
        // Without this, waiting input would make doupdate stop half-way.
        typeahead(-1)
        let depth = color.depth(available: Int(tigetnum("colors")), term: terminal)
        palette = Palette(depth: depth, theme: color.theme, own: color.own)
        if depth != .none { preparePairs() }
        curs_set(0)
        // All is initialised, so `deinit` runs and releases the rest.
        guard Self.capability("cup") != nil else {
            endwin()
            throw .unusableTerminal(name: terminal)
        }
    }

    deinit {
        delscreen(screen)
        fclose(output)
    }

    /// Fewer than ten pairs for each theme, all on the terminal's own background.
    private func preparePairs() {
        guard start_color() == OK, use_default_colors() == OK else { return }
        for color in palette.colors where pairs[color] == nil {
            let pair = Int16(pairs.count + 1)
            if init_pair(pair, Int16(color), -1) == OK { pairs[color] = pair }
        }
    }

    /// Colours for another background, from the next cell that is drawn on.
    func use(_ theme: Theme) {
        palette = Palette(depth: palette.depth, theme: theme, own: palette.own)
        looks = [:]
        if palette.depth != .none { preparePairs() }
    }

    /// Tells ncurses how large the terminal is now. Everything is sent again at the next flush, because a terminal
    /// may have moved its lines around.
    func resize(to size: ScreenSize) {
        resizeterm(Int32(size.rows), Int32(size.columns))
        clearok(CNcurses_curscr(), true)
    }

    /// Sends everything again at the next flush.
    func forgetTerminal() { clearok(CNcurses_curscr(), true) }

    /// Gives ncurses the cells of a run.
    func draw(_ run: ChangedRun, of grid: Grid) {
        var line: [cchar_t] = []
        line.reserveCapacity(run.columns.count)
        for cell in grid.row(run.row).dropFirst(run.columns.lowerBound).prefix(run.columns.count) {
            // ncurses makes the second cell of a wide character itself.
            if cell.glyph.width > 0 { line.append(drawn(cell)) }
        }
        mvwadd_wchnstr(CNcurses_stdscr(), Int32(run.row), Int32(run.columns.lowerBound), line, Int32(line.count))
    }

    /// Sends what changed, and leaves the cursor where it is wanted: last, so that it stays there.
    func flush(_ cursor: Cursor) {
        let window = CNcurses_stdscr()
        wmove(window, Int32(cursor.position.row), Int32(cursor.position.column))
        wnoutrefresh(window)
        curs_set(cursor.isVisible ? 1 : 0)
        doupdate()
    }

    /// Leaves the alternate screen and puts the terminal's modes back. `comeBack` and `flush` take them again.
    func leave() { endwin() }

    /// The next flush will be on the alternate screen again. ncurses remembers everything but the keypad's mode.
    func comeBack() { keypad(CNcurses_stdscr(), true) }

    private func drawn(_ cell: Cell) -> cchar_t {
        let look = look(of: cell.style)
        var text = (
            wchar_t(bitPattern: cell.glyph.base), wchar_t(bitPattern: cell.glyph.mark),
            wchar_t(bitPattern: cell.glyph.secondMark), wchar_t(0)
        )
        var result = cchar_t()
        withUnsafeBytes(of: &text) { bytes in
            let characters = bytes.assumingMemoryBound(to: wchar_t.self).baseAddress
            setcchar(&result, characters, look.attributes, look.pair, nil)
        }
        return result
    }

    private func look(of style: Style) -> (attributes: attr_t, pair: Int16) {
        if let look = looks[style] { return look }
        let rendition = palette.rendition(of: style)
        var attributes: attr_t = 0
        if rendition.attributes.contains(.bold) { attributes |= CNcurses_A_BOLD() }
        if rendition.attributes.contains(.dim) { attributes |= CNcurses_A_DIM() }
        if rendition.attributes.contains(.reverse) { attributes |= CNcurses_A_REVERSE() }
        if rendition.attributes.contains(.underline) { attributes |= CNcurses_A_UNDERLINE() }
        let look = (attributes, rendition.color.flatMap { pairs[$0] } ?? 0)
        looks[style] = look
        return look
    }

    /// A string of the terminal's description; tigetstr(3x) answers -1 for what is not one.
    static func capability(_ name: String) -> [UInt8]? {
        guard let text = tigetstr(name), UInt(bitPattern: text) != UInt.max else { return nil }
        let bytes = Array(String(cString: text).utf8)
        return bytes.isEmpty ? nil : bytes
    }
}

/// The settings that decide about colours; the terminal's own number of colours comes later.
struct ColorRequest {
    var mode: ColorMode
    var theme: Theme
    var noColor: String?
    var own: [Role: Int] = [:]

    func depth(available: Int, term: String) -> ColorDepth {
        ColorDepth(mode, available: available, noColor: noColor, term: term)
    }
}
