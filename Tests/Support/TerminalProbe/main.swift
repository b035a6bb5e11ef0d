// A small program that owns a screen, for the tests that kill it in every way and look at the terminal afterwards.
// It shows its size, the last input and a hostile name; some keys end it.
import DisplayText
import Glibc
import Terminal

Backtraces.neverAsk(arguments: CommandLine.unsafeArgv)

var options = Screen.Options()
options.mouse = true
options.focus = true
options.alternate = getenv("PROBE_NO_ALT") == nil
options.standardErrorPath = getenv("PROBE_LOG").map { String(cString: $0) }

/// Endless on purpose: a stack overflow.
func overflow(_ depth: Int) -> Int { depth == -1 ? 0 : overflow(depth + 1) + 1 }

struct Probe {
    let screen: Screen

    func draw(_ last: String) {
        var grid = Grid(screen.size)
        grid.fill(row: 0, style: .header)
        grid.put("probe \(screen.size.columns)x\(screen.size.rows)", row: 0, column: 0, style: .header)
        grid.put(SafeText("last \(last)"), row: 1, column: 0, style: .active)
        grid.put(SafeText("名前 \u{1B}]0;evil\u{7}\u{9B}31m\u{202E}"), row: 2, column: 0, style: .error)
        grid.put(SafeText(screen.notes.joined()), row: 3, column: 0)
        screen.show(grid, cursor: Cursor(row: 1, column: 5))
    }

    /// A frame far longer than what a terminal takes at once.
    func flood() {
        var grid = Grid(screen.size)
        for row in 0..<screen.size.rows {
            for column in 0..<screen.size.columns {
                grid.put("#", row: row, column: column, style: column.isMultiple(of: 2) ? .active : .error)
            }
        }
        screen.show(grid, cursor: Cursor(row: 1, column: 5))
    }

    func handle(_ input: Input) {
        switch input {
        case .key(let press):
            switch press.name {
            case "q":
                screen.close()
                print("left")
                exit(0)
            case "e": exit(3)
            case "s":
                // The address is nobody's.
                UnsafeMutablePointer<Int>(bitPattern: 8)?.pointee = 1
            case "i": fatalError("the probe was asked to trap")
            case "a": abort()
            case "o": print(overflow(0))
            case "f": flood()
            case "E": _ = "noise on standard error\n".withCString { write(2, $0, strlen($0)) }
            case "^Z": if !screen.suspend() { draw("nobody to continue us") }
            default: draw(press.name)
            }
        case .closed:
            screen.close()
            exit(4)
        default: draw("\(input)")
        }
    }

    func run() -> Never {
        draw("nothing")
        while true {
            var watched = [
                pollfd(fd: screen.inputDescriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: screen.signalDescriptor, events: Int16(POLLIN), revents: 0),
            ]
            let patience = screen.inputDeadline.map { ContinuousClock.now.duration(to: $0) }
            let milliseconds = patience.map { Int32(max(0, $0 / .milliseconds(1)) + 1) } ?? -1
            poll(&watched, nfds_t(watched.count), milliseconds)
            for event in screen.takeSignals() {
                switch event {
                case .redraw: draw("redraw")
                case .end(let signal): screen.end(bySignal: signal)
                }
            }
            for input in screen.readInput() { handle(input) }
        }
    }
}

do {
    Probe(screen: try Screen(options)).run()
} catch {
    print("probe: \(error)")
    exit(1)
}
