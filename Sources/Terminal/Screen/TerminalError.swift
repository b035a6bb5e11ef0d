/// An error of opening the screen, or of lending the terminal to a program.
package enum TerminalError: Error, Hashable, Sendable {
    /// The process has no controlling terminal; `errno` of opening /dev/tty.
    case noTerminal(errno: Int32)
    /// Neither TERM nor the names tried instead are known here, or it cannot move its cursor.
    case unusableTerminal(name: String)
    /// A pipe could not be made; `errno`.
    case noPipe(errno: Int32)
    /// The thread that draws could not wait for events.
    case noLoop(reason: String)
    /// The program that was to have the terminal for a while could not be run.
    case noProgram(command: String)
}

extension TerminalError: CustomStringConvertible {
    /// The error in words, with what to do, for a person.
    package var description: String {
        switch self {
        case .noTerminal: "there is no terminal to draw on; `martlet list` and `martlet watch` print plain lines"
        case .unusableTerminal(let name):
            "the terminal \"\(name)\" cannot show a screen; try TERM=xterm-256color, or `martlet list`"
        case .noPipe(let errno): "no pipe for signals could be made (error \(errno))"
        case .noLoop(let reason): "the screen cannot wait for keys (\(reason)); `martlet list` prints plain lines"
        case .noProgram(let command): "\(command) could not be run"
        }
    }
}
