import Configuration
import DisplayText
import MartletKit
import Terminal

/// Everything the screen knows. A value: it changes by `update` alone, reads no clock and does nothing by itself; what
/// it wants done it returns as requests.
struct Model: Sendable {
    var appearance: Appearance
    let keys: KeyMap
    let shellWords: ShellWords
    var settings: ScreenSettings
    var input: InputState

    var size: ScreenSize
    var connection: Connection
    /// The machine of an engine elsewhere; `nil`: it is this one.
    let machine: SafeText?
    private(set) var page: any Page = TransfersPage()
    /// Counts the pages that were opened.
    private var opened = 0
    var tree = Tree()
    var list = ListState()
    var totals: QueueTotals?
    /// Whatever lies over the page.
    var layers = LayerStack()
    var drafts: AddDrafts
    /// Configured servers, as last read.
    var book = DestinationBook.empty()
    /// Results of asking its servers.
    var askedServers = AskedServers()
    var filters = Filters()
    /// The newest lines of the log, below the list.
    var recentLog = RecentLog()
    var notice: Notice?
    /// The empty list's words about today; `nil`: it is not empty.
    var finishedToday: FinishedToday.Answer?
    var leaving = Leaving()
    var returning = ReturnState()
    var changes = Changes()
    var throughput = ThroughputState()
    var observed = RowObservations()
    /// The time of the last message.
    var now: Moment
    /// The messages of this screen, for the log.
    var said: [LogLine] = []
    var requests = Requests()

    init(
        appearance: Appearance, keys: KeyMap = .standard, size: ScreenSize, home: [UInt8] = [], folder: [UInt8]? = nil,
        grace: Duration = .seconds(10), mouse: Bool = true, bell: Bool = false, machine: String? = nil, now: Moment
    ) {
        self.appearance = appearance
        self.keys = keys
        self.size = size
        connection = Connection(grace: grace)
        self.now = now
        self.machine = machine.map { appearance.safe($0) }
        input = InputState(isMouseOn: mouse)
        settings = ScreenSettings(ringsBell: bell)
        shellWords = ShellWords(home: home)
        drafts = AddDrafts(startFolder: folder ?? (home.isEmpty ? [UInt8(ascii: "/")] : home))
        tree.resize(height: layout.tree.count)
    }

    var layout: ScreenLayout { ScreenLayout(size, lower: list.lowerHeight) }

    /// The last message's time by the engine's clock: what the engine says when something will be is by that one.
    var engineNow: Moment { connection.engineMoment(now) }

    var isConnected: Bool { connection.isConnected }

    /// For how long the engine has left a request without an answer, when that is longer than it ever should be.
    var silence: Duration? {
        guard isConnected, let age = requests.oldestAge(at: now.uptime), age >= requests.patience else { return nil }
        return age
    }

    /// So many files are changed by it at most.
    private func files(of purpose: Outstanding.Purpose) -> Int64 {
        switch purpose {
        case .deed(let deed, let rows) where deed.showsInState || deed == .purge:
            ByteSum.of(rows.lazy.map(\.counts.total))
        case .everything, .named, .failed, .undo: totals?.counts.total ?? 0
        default: 0
        }
    }

    /// For how long nothing has been heard of the engine; `nil` when it answers or was never there.
    var silenceSince: Duration? { connection.lostFor(at: now.wall) ?? silence }

    /// True when what is shown is how things are.
    var hearsNews: Bool { isConnected && silence == nil }

    /// True when keys that change transfers work. What is shown is told to be old as soon as they do not: an engine that hangs is as far
    /// away as one that is lost.
    var canChange: Bool { isConnected && silence.map { $0 < .seconds(10) } ?? true }

    /// True while a person types or decides something: keys are for that.
    var isOccupied: Bool { page.isTyping || layers.open(in: self).contains { type(of: $0).takesKeys } }

    /// The only way in.
    mutating func update(_ message: Message, at moment: Moment) -> [Request] {
        now = moment
        if message.isHeardOfEngine { connection.heardAt = moment.uptime }
        let wasSilent = isConnected && !canChange
        let before = notice
        if case .input = message {} else { layers.isShut = isOccupied }
        switch message {
        case .input(let input): take(input)
        case .resized(let size): self.size = size
        case .update(let update): take(update)
        case .link(let state): take(state)
        case .answer(let answer): take(answer)
        case .local(let news): take(news)
        case .counted(let count):
            filters.counts[count.text] = count
            recountQuestion()
        case .batches(let rows):
            filters.hiddenBatches = rows
            noteEnds(of: rows)
        case .printed(let lines): takePrinted(lines)
        case .tick: break
        }
        if layers.reopen() { say("What you asked for came while you were busy here: ask for it once more.") }
        if wasSilent, canChange, notice == before { say("The engine answers again.") }
        expire()
        holdCommand()
        tree.resize(height: layout.tree.count)
        if let flow = adding {
            let height = PickerLayout(size, flow.picker).list.count
            adding?.picker.folder.resize(height: height)
        }
        askForView()
        askForBatches()
        askForCounts()
        askForRecentLog()
        askForFinishedToday()
        return requests.takeMade()
    }

    /// The key of an action, for sentences; its name when it has none.
    func key(_ action: Action, in view: KeyMap.View = .transfers) -> SafeText {
        keys.name(of: action, in: view)
    }

    // MARK: Saying something

    /// - Parameter isLogged: the engine has it in its log.
    mutating func say(_ text: SafeText, isError: Bool = false, undo: Notice.Undo? = nil, isLogged: Bool = false) {
        notice = Notice(text: text, isError: isError, undo: undo)
        if !isLogged { note(text, isError: isError) }
    }

    /// Puts a message that was shown into the log, too.
    mutating func note(_ text: SafeText, isError: Bool = false) {
        let line = LogLine(
            at: now.wall, level: isError ? .warning : .info, batch: nil, task: nil, message: "screen: \(text.string)")
        said = said.suffix(99) + [line]
    }

    mutating func complain(_ text: SafeText) { say(text, isError: true) }

    /// Sends a request that will be answered, and returns its number.
    @discardableResult
    mutating func ask(
        _ purpose: Outstanding.Purpose, isPatient: Bool = false, isRedo: Bool = false, _ request: (Int) -> Request
    ) -> Int {
        let number = requests.ask(
            purpose, at: now.uptime, files: files(of: purpose), isPatient: isPatient, isRedo: isRedo, request)
        requests.outstanding[number]?.cursor = tree.cursor
        if let asked = requests.outstanding[number] { changes.history.asked(asked, number) }
        return number
    }

    // MARK: The page

    /// Opens a page that a key asks for. An answer, which comes when nobody waits for it, offers one instead.
    mutating func go(to page: any Page) {
        self.page = page
        opened += 1
    }

    /// Opens a page that an answer brings, where the person still is on the page of `view` and neither types nor decides anything: the next
    /// keys would be taken for its own, and what is typed would be gone.
    /// - Returns: false: nothing was opened, and a message has to say where the news is.
    mutating func offer(_ page: any Page, on view: KeyMap.View) -> Bool {
        guard keyView == view, !isOccupied else { return false }
        go(to: page)
        return true
    }

    /// Opens the list of transfers.
    mutating func goToTransfers() { go(to: TransfersPage()) }

    /// Runs `body` on a copy of the open page. The copy then takes the page's place, unless `body` has opened another page.
    mutating func withPage<Result>(_ body: (inout any Page, inout Model) -> Result) -> Result {
        var shown = page
        let before = opened
        let result = body(&shown, &self)
        if opened == before { page = shown }
        return result
    }

    /// The page that hears news and answers: the one that is open, or that comes back when help over it is closed.
    var hearingPage: any Page { (page as? HelpPage)?.below ?? page }

    /// Runs `body` on a copy of the page that hears news and answers, as `withPage` does: the only way by which they reach a page.
    mutating func tellPage(_ body: (inout any Page, inout Model) -> Void) {
        withPage { page, model in
            guard var help = page as? HelpPage else { return body(&page, &model) }
            body(&help.below, &model)
            page = help
        }
    }

    /// The same with a page of this kind; nothing is done while another one is open.
    mutating func tellPage<Kind: Page>(_ kind: Kind.Type, _ body: (inout Kind, inout Model) -> Void) {
        tellPage { page, model in
            guard var shown = page as? Kind else { return }
            body(&shown, &model)
            page = shown
        }
    }

    // MARK: What the engine is to tell

    private mutating func askForView() {
        requests.show(tree.wantedSections(), nodes: hearingPage.watchedNodes, filter: filters.shown?.sent)
    }
}
