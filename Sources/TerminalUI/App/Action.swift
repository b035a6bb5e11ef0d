/// Everything a key can do. The raw value is the action's name in `keys.conf`, in help and in messages.
package enum Action: String, CaseIterable, Sendable {
    // Move
    case down, up
    case halfPageDown = "half-page-down"
    case halfPageUp = "half-page-up"
    case pageDown = "page-down"
    case pageUp = "page-up"
    case first, last
    case nextBatch = "next-batch"
    case previousBatch = "previous-batch"
    case open, close, enter
    case toggleAll = "toggle-all"
    case nextProblem = "next-problem"
    case find, filter
    case nextMatch = "next-match"
    case previousMatch = "previous-match"

    // Mark
    case mark
    case markRange = "mark-range"
    case markMatching = "mark-matching"
    case unmarkAll = "unmark-all"

    // Act
    case pause
    case pauseAll = "pause-all"
    case cancel, retry
    case retryAll = "retry-all"
    case undo, redo, add, download
    case earlier, later, order, limit
    case verify
    case clear

    // Pick files
    case nextStep = "next-step"
    case markAll = "mark-all"
    case hidden, places
    case typePath = "type-path"

    // Configured servers
    case destinations, test, new, remove
    case signIn = "sign-in"

    // Read the throughput
    case longerSpan = "longer-span"
    case shorterSpan = "shorter-span"
    case earlierPoint = "earlier-point"
    case laterPoint = "later-point"

    // Mend
    case leaveOut = "leave-out"
    case again
    case server, plain, write

    // See
    case transfers, details, why, throughput, problems, log, history, level, help, command, mouse, redraw

    case sort, reverse
    case flat, follow
    case copy
    case copyAll = "copy-all"
    case freeze
    case nextPane = "next-pane"
    case previousPane = "previous-pane"
    case lowerPart = "lower-part"
    case maximise

    // Leave
    case suspend, leave
    case leaveWithChoices = "leave-with-choices"
    case interrupt, back
    /// Without an engine: try to reach it now.
    case retryNow = "retry-now"
    /// Without an engine: start one.
    case startEngine = "start-engine"

    /// The action in words, for the page of help.
    package var summary: String {
        switch self {
        case .down: "next row"
        case .up: "previous row"
        case .halfPageDown: "half a page down"
        case .halfPageUp: "half a page up"
        case .pageDown: "a page down"
        case .pageUp: "a page up"
        case .first: "first row"
        case .last: "last row"
        case .nextBatch: "next batch"
        case .previousBatch: "previous batch"
        case .open: "open, or step in"
        case .close: "close, or to the parent"
        case .enter: "open, close, or details"
        case .toggleAll: "open or close all below"
        case .nextProblem: "next that needs a look"
        case .mark: "mark and step down"
        case .filter: "show only what matches"
        case .nextMatch: "next that matches"
        case .previousMatch: "previous that matches"
        case .markMatching: "mark all that match"
        case .unmarkAll: "unmark all"
        case .pause: "pause or resume"
        case .pauseAll: "pause or resume all"
        case .cancel: "cancel"
        case .retry: "retry what failed"
        case .retryAll: "retry all that failed"
        case .undo: "undo the last change"
        case .redo: "do again what was undone"
        case .earlier: "earlier in the queue"
        case .later: "later in the queue"
        case .order: "order and priority"
        case .limit: "speed limits"
        case .verify: "is it all at the server?"
        case .add: "add files"
        case .download: "download URLs"
        case .nextStep: "go on to the next step"
        case .markAll: "mark all that are shown"
        case .markRange: "mark from here to there"
        case .find: "find a name"
        case .hidden: "hidden names, or not"
        case .places: "home, disks, lately used"
        case .typePath: "type a path"
        case .sort: "sort the rows"
        case .reverse: "sort the other way round"
        case .flat: "all files, or the tree"
        case .follow: "follow file, or the log"
        case .destinations: "configured servers"
        case .test: "ask whether it works"
        case .new: "describe a new one"
        case .remove: "remove it"
        case .signIn: "its password or command"
        case .longerSpan: "a longer time"
        case .shorterSpan: "a shorter time"
        case .earlierPoint: "read an earlier point"
        case .laterPoint: "read a later point"
        case .leaveOut: "leave its files out"
        case .again: "send again, or elsewhere"
        case .server: "the server it is about"
        case .plain: "all of it in $PAGER"
        case .write: "all of it into a file"
        case .clear: "clear finished batches"
        case .transfers: "the list of transfers"
        case .copy: "copy the path, or text"
        case .copyAll: "copy all that is shown"
        case .freeze: "freeze the screen"
        case .nextPane: "to the details below"
        case .previousPane: "back to the list"
        case .lowerPart: "height of the lower part"
        case .maximise: "the lower part on a page"
        case .details: "details"
        case .why: "why it does not move"
        case .throughput: "how fast it has been"
        case .problems: "what failed, by cause"
        case .log: "what the engine logged"
        case .help: "this help"
        case .history: "finished work"
        case .level: "how much of it is shown"
        case .leaveWithChoices: "leave or stop the engine"
        case .command: "every action by name"
        case .mouse: "mouse on or off"
        case .redraw: "draw everything again"
        case .suspend: "suspend"
        case .leave: "leave; transfers go on"
        case .interrupt: "close; twice: leave"
        case .back: "back"
        case .retryNow: "try to reach it now"
        case .startEngine: "start an engine"
        }
    }

    /// The same in the words of a view.
    package func summary(in view: KeyMap.View) -> String { view.words[self]?.help ?? summary }

    /// The word behind the key in the line of hints; nil when it is never there.
    package var hint: String? {
        switch self {
        case .help: "help"
        case .command: "command"
        case .add: "add"
        case .download: "download"
        case .destinations: "destinations"
        case .test: "test"
        case .new: "new"
        case .remove: "remove"
        case .signIn: "sign in"
        case .longerSpan: "longer"
        case .shorterSpan: "shorter"
        case .earlierPoint: "read"
        case .leaveOut: "leave out"
        case .again: "send again or elsewhere"
        case .server: "server"
        case .plain: "open plain"
        case .write: "write to file"
        case .pause: "pause"
        case .cancel: "cancel"
        case .retry: "retry"
        case .undo: "undo"
        case .order: "order"
        case .limit: "limit"
        case .verify: "verify"
        case .details: "details"
        case .why: "why"
        case .problems: "problems"
        case .leave: "leave"
        case .mark: "mark"
        case .find: "find"
        case .copy: "copy"
        case .filter: "filter"
        case .log: "log"
        case .history: "history"
        case .level: "level"
        case .clear: "clear finished"
        case .back: "back"
        case .retryNow: "try now"
        case .startEngine: "start the engine"
        default: nil
        }
    }

    /// The same in the words of a view.
    package func hint(in view: KeyMap.View) -> String? { view.words[self]?.hint ?? hint }

    /// The part of help in which it stands.
    package enum Part: String, CaseIterable, Sendable {
        case move = "Move"
        case mark = "Find and mark"
        case act = "Act on the row, or the marked"
        case see = "See"
        case pick = "While files are picked"
        case servers = "Configured servers"
        case mend = "On the page of problems"
        case read = "On the page of the throughput"
        case leave = "Leave"
        case lost = "While the engine does not answer"
    }

    package var part: Part {
        switch self {
        case .down, .up, .halfPageDown, .halfPageUp, .pageDown, .pageUp, .first, .last, .nextBatch, .previousBatch,
            .open, .close, .enter, .toggleAll, .nextProblem:
            .move
        case .find, .filter, .nextMatch, .previousMatch, .mark, .markRange, .markMatching, .unmarkAll, .copy, .copyAll:
            .mark
        case .pause, .pauseAll, .cancel, .retry, .retryAll, .undo, .redo, .add, .download, .clear, .earlier, .later,
            .order, .again, .limit, .verify:
            .act
        case .nextStep, .markAll, .hidden, .places, .typePath: .pick
        case .transfers, .details, .why, .throughput, .problems, .log, .history, .level, .destinations, .help,
            .command, .mouse, .redraw, .sort, .reverse, .flat, .follow, .freeze, .nextPane, .previousPane, .lowerPart,
            .maximise:
            .see
        case .test, .new, .remove, .signIn: .servers
        case .leaveOut, .server, .plain, .write: .mend
        case .longerSpan, .shorterSpan, .earlierPoint, .laterPoint: .read
        case .suspend, .leave, .leaveWithChoices, .interrupt, .back: .leave
        case .retryNow, .startEngine: .lost
        }
    }

    /// True when it changes transfers; such actions are off while the engine does not answer.
    package var changesTransfers: Bool {
        switch self {
        case .pause, .pauseAll, .cancel, .retry, .retryAll, .undo, .redo, .clear, .earlier, .later, .order, .limit,
            .leaveOut:
            true
        default: false
        }
    }
}
