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

    /// All that is said of an action, in one row.
    private struct Facts {
        var part: Part
        var summary: String
        var hint: String?
        var changes: Bool

        init(_ part: Part, _ summary: String, hint: String? = nil, changes: Bool = false) {
            (self.part, self.summary, self.hint, self.changes) = (part, summary, hint, changes)
        }
    }

    private var facts: Facts {
        switch self {
        case .down: Facts(.move, "next row")
        case .up: Facts(.move, "previous row")
        case .halfPageDown: Facts(.move, "half a page down")
        case .halfPageUp: Facts(.move, "half a page up")
        case .pageDown: Facts(.move, "a page down")
        case .pageUp: Facts(.move, "a page up")
        case .first: Facts(.move, "first row")
        case .last: Facts(.move, "last row")
        case .nextBatch: Facts(.move, "next batch")
        case .previousBatch: Facts(.move, "previous batch")
        case .open: Facts(.move, "open, or step in")
        case .close: Facts(.move, "close, or to the parent")
        case .enter: Facts(.move, "open, close, or details")
        case .toggleAll: Facts(.move, "open or close all below")
        case .nextProblem: Facts(.move, "next that needs a look")
        case .find: Facts(.mark, "find a name", hint: "find")
        case .filter: Facts(.mark, "show only what matches", hint: "filter")
        case .nextMatch: Facts(.mark, "next that matches")
        case .previousMatch: Facts(.mark, "previous that matches")
        case .mark: Facts(.mark, "mark and step down", hint: "mark")
        case .markRange: Facts(.mark, "mark from here to there")
        case .markMatching: Facts(.mark, "mark all that match")
        case .unmarkAll: Facts(.mark, "unmark all")
        case .pause: Facts(.act, "pause or resume", hint: "pause", changes: true)
        case .pauseAll: Facts(.act, "pause or resume all", changes: true)
        case .cancel: Facts(.act, "cancel", hint: "cancel", changes: true)
        case .retry: Facts(.act, "retry what failed", hint: "retry", changes: true)
        case .retryAll: Facts(.act, "retry all that failed", changes: true)
        case .undo: Facts(.act, "undo the last change", hint: "undo", changes: true)
        case .redo: Facts(.act, "do again what was undone", changes: true)
        case .add: Facts(.act, "add files", hint: "add")
        case .download: Facts(.act, "download URLs", hint: "download")
        case .earlier: Facts(.act, "earlier in the queue", changes: true)
        case .later: Facts(.act, "later in the queue", changes: true)
        case .order: Facts(.act, "order and priority", hint: "order", changes: true)
        case .limit: Facts(.act, "speed limits", hint: "limit", changes: true)
        case .verify: Facts(.act, "is it all at the server?", hint: "verify")
        case .clear: Facts(.act, "clear finished batches", hint: "clear finished", changes: true)
        case .nextStep: Facts(.pick, "go on to the next step")
        case .markAll: Facts(.pick, "mark all that are shown")
        case .hidden: Facts(.pick, "hidden names, or not")
        case .places: Facts(.pick, "home, disks, lately used")
        case .typePath: Facts(.pick, "type a path")
        case .destinations: Facts(.see, "configured servers", hint: "destinations")
        case .test: Facts(.own, "ask whether it works", hint: "test")
        case .new: Facts(.own, "describe a new one", hint: "new")
        case .remove: Facts(.own, "remove it", hint: "remove")
        case .signIn: Facts(.own, "its password or command", hint: "sign in")
        case .longerSpan: Facts(.own, "a longer time", hint: "longer")
        case .shorterSpan: Facts(.own, "a shorter time", hint: "shorter")
        case .earlierPoint: Facts(.own, "read an earlier point", hint: "read")
        case .laterPoint: Facts(.own, "read a later point")
        case .leaveOut: Facts(.own, "leave its files out", hint: "leave out", changes: true)
        case .again: Facts(.act, "send again, or elsewhere", hint: "send again or elsewhere")
        case .server: Facts(.own, "the server it is about", hint: "server")
        case .plain: Facts(.own, "all of it in $PAGER", hint: "open plain")
        case .write: Facts(.own, "all of it into a file", hint: "write to file")
        case .transfers: Facts(.see, "the list of transfers")
        case .details: Facts(.see, "details", hint: "details")
        case .why: Facts(.see, "why it does not move", hint: "why")
        case .throughput: Facts(.see, "how fast it has been")
        case .problems: Facts(.see, "what failed, by cause", hint: "problems")
        case .log: Facts(.see, "what the engine logged", hint: "log")
        case .history: Facts(.see, "finished work", hint: "history")
        case .level: Facts(.see, "how much of it is shown", hint: "level")
        case .help: Facts(.see, "this help", hint: "help")
        case .command: Facts(.see, "every action by name", hint: "command")
        case .mouse: Facts(.see, "mouse on or off")
        case .redraw: Facts(.see, "draw everything again")
        case .sort: Facts(.see, "sort the rows")
        case .reverse: Facts(.see, "sort the other way round")
        case .flat: Facts(.see, "all files, or the tree")
        case .follow: Facts(.see, "follow file, or the log")
        case .copy: Facts(.mark, "copy the path, or text", hint: "copy")
        case .copyAll: Facts(.mark, "copy all that is shown")
        case .freeze: Facts(.see, "freeze the screen")
        case .nextPane: Facts(.see, "to the details below")
        case .previousPane: Facts(.see, "back to the list")
        case .lowerPart: Facts(.see, "height of the lower part")
        case .maximise: Facts(.see, "the lower part on a page")
        case .suspend: Facts(.leave, "suspend")
        case .leave: Facts(.leave, "leave; transfers go on", hint: "leave")
        case .leaveWithChoices: Facts(.leave, "leave or stop the engine")
        case .interrupt: Facts(.leave, "close; twice: leave")
        case .back: Facts(.leave, "back", hint: "back")
        case .retryNow: Facts(.lost, "try to reach it now", hint: "try now")
        case .startEngine: Facts(.lost, "start an engine", hint: "start the engine")
        }
    }

    /// The part of help in which it stands.
    package var part: Part { facts.part }

    /// The action in words, for the page of help, at most 24 characters.
    package var summary: String { facts.summary }

    /// The same in the words of a view.
    package func summary(in view: KeyMap.View) -> String { view.words[self]?.help ?? summary }

    /// The word behind the key in the line of hints, in the words of a view; `nil` when it is never there.
    package func hint(in view: KeyMap.View) -> String? { view.words[self]?.hint ?? facts.hint }

    /// True when it changes transfers; such actions are off while the engine does not answer.
    package var changesTransfers: Bool { facts.changes }

    /// True when it changes the row under the cursor where none is marked, or marks it.
    var meansRow: Bool {
        switch self {
        case .pause, .cancel, .retry, .earlier, .later, .order, .limit, .mark: true
        default: false
        }
    }

    /// True when it is about the row under the cursor, whatever is marked.
    var meansCursor: Bool {
        switch self {
        case .mark, .markRange, .details, .maximise, .enter, .again: true
        default: false
        }
    }

    package enum Part: String, CaseIterable, Sendable {
        case move = "Move"
        case mark = "Find and mark"
        case act = "Act on the row, or the marked"
        case see = "See"
        case pick = "While files are picked"
        /// Whatever one page alone does; never in the list of transfers.
        case own = "On this page"
        case leave = "Leave"
        case lost = "While the engine does not answer"
    }
}
