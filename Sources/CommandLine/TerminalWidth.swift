import Glibc

/// The width of text on the standard output, in cells.
package enum TerminalWidth {
    /// The width where nothing says it: a pipe, a file.
    package static let standard = 80

    /// `COLUMNS` where it is set, as for other programs; else what the terminal says, ioctl(TIOCGWINSZ); else ``standard``.
    package static func ofOutput() -> Int {
        var size = winsize()
        let asked = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 ? Int(size.ws_col) : 0
        return choose(columns: getenv("COLUMNS").map { String(cString: $0) }, terminal: asked)
    }

    /// - Parameters:
    ///   - columns: what `COLUMNS` has.
    ///   - terminal: what the terminal says; 0 where there is none.
    static func choose(columns: String?, terminal: Int) -> Int {
        if let columns = columns.flatMap({ Int($0) }), columns > 0 { return columns }
        return terminal > 0 ? terminal : standard
    }
}
