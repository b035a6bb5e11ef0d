import DisplayText
import Configuration
import FoundationEssentials
import Glibc
import MartletKit
import Terminal

/// The edge of the screen: the terminal and the engine at one side, the model at the other.
///
/// An actor whose executor is the main thread's loop. In one turn it reads all that was typed, takes all that the engine
/// sent, and then draws once; engine news alone draw at most ten times a second. With nothing typed, sent or counting
/// down it sleeps without a timer.
actor ScreenProgram {
    nonisolated let loop: ScreenLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor }

    let engine: EngineConnection
    /// The subscription to what the engine is asked to tell.
    var view: TreeSubscription?
    let screen: Screen
    private var model: Model
    private let started = ContinuousClock.now
    private let notification: ScreenConfiguration.Notification
    private let showsTitle: Bool
    let copiesThroughTerminal: Bool
    /// The tasks that count the files of saved filters, by filter.
    var counting: [String: Task<Void, Never>] = [:]
    var batchesWatch: Task<Void, Never>?
    private var watch: ScreenWatch?
    /// The file for all that would have been printed over the screen.
    private var printed: GrowingFile
    private var timer: ScreenTimer?
    private var isFramePlanned = false
    /// When news of the engine may be drawn again, and whether some wait for that.
    private var nextFrame = Duration.zero
    private var hasUndrawnNews = false
    /// Other rows were asked for: what comes next is an answer to the person, and drawn at once.
    private var awaitsRows = true
    private var exitStatus: Int32 = 0
    /// The directory that a relative path is relative to.
    nonisolated let currentDirectory: [UInt8]
    let files: ScreenFiles

    private static let frameInterval = Duration.milliseconds(100)

    /// On the main thread, which becomes the loop.
    init(_ options: TerminalUI.Options, _ engine: EngineConnection) throws {
        let configuration = options.screen
        self.engine = engine
        loop = try ScreenLoop()
        currentDirectory = Self.workingDirectory()
        var terminal = Screen.Options()
        terminal.color = ColorMode(rawValue: configuration.color.rawValue) ?? .auto
        terminal.theme = Theme(rawValue: configuration.theme.rawValue)
        terminal.colors = TerminalUI.colors(options.colors)
        terminal.alternate = configuration.alternate
        terminal.mouse = configuration.mouse
        terminal.focus = configuration.bell || configuration.notify != .off
        printed = GrowingFile(engine.screenLogFile)
        terminal.standardErrorPath = printed.path
        notification = configuration.notify
        showsTitle = configuration.title
        copiesThroughTerminal = configuration.copy
        screen = try Screen(terminal)
        let (keys, problems) = TerminalUI.keyMap(options)
        let home = TerminalUI.environment("HOME").map { Array($0.utf8) } ?? []
        files = try ScreenFiles(engine, home: home, currentDirectory: currentDirectory)
        model = Model(
            appearance: TerminalUI.appearance(configuration, screen), keys: keys, size: screen.size, home: home,
            folder: currentDirectory,
            grace: options.grace, mouse: configuration.mouse, bell: configuration.bell,
            machine: engine.options.remote?.machine, now: Moment(uptime: .zero, wall: TerminalUI.wallTime))
        model.filters.saved = options.filters
        model.leaving.isAskedAbout = configuration.askLeave
        model.settings.askAbove = AskAbove(
            files: Int64(configuration.askFiles), bytes: configuration.askSize.bytes, lost: configuration.askLost.bytes)
        model.settings.notifies = configuration.notify != .off
        model.settings.keyProblems = problems
        model.settings.keysFile = engine.keysFile
        model.restore(options.kept, over: options.configured)
        if let problem = options.keptProblem { model.note(model.appearance.safe(problem), isError: true) }
        for note in screen.notes { model.say(model.appearance.safe(note)) }
        for problem in options.problems { model.complain(model.appearance.safe(problem)) }
        if let problem = problems.first {
            let more = problems.count > 1 ? " (:keys shows \(problems.count - 1) more)" : ""
            model.complain(model.appearance.safe(problem + more))
        }
    }

    /// Runs until the person leaves; then says what goes on.
    nonisolated func run() -> Int32 {
        assumeIsolated { $0.start() }
        loop.run()
        return assumeIsolated { $0.finish() }
    }

    private func start() {
        do throws(TerminalError) {
            watch = try loop.watch(screen) { [weak self] in self?.assumeIsolated { $0.read() } }
        } catch {
            return leave(status: 1)
        }
        draw()
        Task {
            let view = await engine.view()
            self.view = view
            take(.tick)
            view.show(lastSections, nodes: lastNodes, filter: lastFilter)
            for await update in view { take(.update(update)) }
        }
        Task { for await news in files.news { take(.local(news)) } }
        Task { for await state in await engine.states() { take(.link(state)) } }
        perform(.reconnect)
    }

    private func finish() -> Int32 {
        // No shell breaks lines between words.
        let lines = LeavingText.lines(model).flatMap { line in
            SafeText(line).wrapped(to: max(20, model.size.columns - 1)).map(\.string)
        }
        screen.close()
        if exitStatus == 0 { print(lines.joined(separator: "\n")) }
        keepScreen()
        return exitStatus
    }

    /// For the next time. The terminal has been given back: nobody waits for the disk.
    private func keepScreen() {
        let latest = engine.keptScreen().flatMap { try? KeptScreen(bytes: $0) }
        engine.keepScreen(model.keptScreen(over: latest).bytes)
    }

    private func leave(status: Int32 = 0) {
        exitStatus = status
        loop.stop()
    }

    // MARK: Messages

    /// The rows wanted last, for a view that opens later than it was asked for.
    private var lastSections: [SectionRequest] = [SectionRequest(parent: nil, limit: 48)]
    private var lastNodes: [NodeID] = []
    private var lastFilter: String?

    private var moment: Moment { Moment(uptime: ContinuousClock.now - started, wall: TerminalUI.wallTime) }

    /// Hands a message to the model, does what it wants, and has the result drawn.
    func take(_ message: Message) {
        let isUpdate = if case .update = message { true } else { false }
        let isNews = isUpdate && !awaitsRows
        if isUpdate { awaitsRows = false }
        for request in model.update(message, at: moment) { perform(request) }
        planFrame(soon: !isNews)
    }

    private func perform(_ request: Request) {
        switch request {
        case .show(let sections, let nodes, let filter):
            (lastSections, lastNodes, lastFilter) = (sections, nodes, filter)
            awaitsRows = true
            view?.show(sections, nodes: nodes, filter: filter)
        case .local(let request):
            files.begin(request)
        case .count(let filters): count(filters)
        case .watchBatches(let isWanted): watchBatches(isWanted)
        case .theme(let theme): screen.use(Theme(rawValue: theme.rawValue))
        case .redraw: screen.forgetTerminal()
        case .suspend: if !screen.suspend() { take(.answer(.cannotSuspend)) }
        case .bell: screen.bell()
        case .copy(let text): take(.answer(copy(text)))
        case .write(let text, let name):
            switch engine.write(Array(text.utf8), as: name) {
            case .success(let file): take(.answer(.written(file: file)))
            case .failure(let error): take(.answer(.notSaved(error.message)))
            }
        case .showPlain(let text): showPlain(text)
        case .notify(let text): screen.notify(text, isTitled: notification == .osc777)
        case .leave: leave()
        case .stopEngine(let finishRunning):
            Task {
                await engine.requestStop(finishRunning: finishRunning)
                leave()
            }
        default:
            let program = self
            Task { if let answer = await program.ask(request) { take(.answer(answer)) } }
        }
    }

    // MARK: The terminal

    private func read() {
        for event in screen.takeSignals() {
            switch event {
            case .redraw: take(.resized(screen.size))
            case .end(let signal):
                screen.close()
                keepScreen()
                screen.end(bySignal: signal)
            }
        }
        let lines = printed.newLines()
        if !lines.isEmpty { take(.printed(lines)) }
        let inputs = screen.readInput()
        for input in model.hearsWheelAsArrows ? WheelTurns.read(inputs) : inputs {
            if input == .closed, let watch { loop.stopReading(watch) }
            take(.input(input))
        }
        planTimer()
    }

    private func planFrame(soon: Bool) {
        if soon || ContinuousClock.now - started >= nextFrame {
            guard !isFramePlanned else { return }
            isFramePlanned = true
            loop.atEndOfTurn { [weak self] in self?.assumeIsolated { $0.draw() } }
        } else {
            hasUndrawnNews = true
            planTimer()
        }
    }

    private func draw() {
        (isFramePlanned, hasUndrawnNews) = (false, false)
        let wantsMouse = model.wantsMouse
        if screen.isMouseOn != wantsMouse { screen.isMouseOn = wantsMouse }
        if screen.reportsFocus != model.tellsEnds { screen.reportsFocus = model.tellsEnds }
        let picture = Drawing.draw(model)
        screen.showTitle(showsTitle ? model.windowTitle : nil)
        if !screen.show(picture.grid, cursor: picture.cursor) {
            // A slow line gets fewer frames: the next one when it takes output again.
            loop.whenWritable(screen) { [weak self] in self?.assumeIsolated { $0.planFrame(soon: true) } }
        }
        nextFrame = ContinuousClock.now - started + Self.frameInterval
        planTimer()
    }

    /// One timer for all that waits: a key's rest, a countdown, news that came too soon after a frame.
    private func planTimer() {
        if let timer { loop.cancel(timer) }
        timer = nil
        var waits: [Duration] = []
        if let wake = model.nextWake { waits.append(wake) }
        if let deadline = screen.inputDeadline { waits.append(deadline - ContinuousClock.now) }
        if hasUndrawnNews { waits.append(nextFrame - (ContinuousClock.now - started)) }
        guard let wait = waits.min() else { return }
        timer = loop.schedule(after: max(.zero, wait)) { [weak self] in
            self?.assumeIsolated { program in
                program.timer = nil
                program.read()
                program.take(.tick)
            }
        }
    }

    /// getcwd(3); a deleted directory has no name, then relative paths are taken from the root.
    private static func workingDirectory() -> [UInt8] {
        guard let path = getcwd(nil, 0) else { return [UInt8(ascii: "/")] }
        defer { free(path) }
        return Array(UnsafeRawBufferPointer(start: path, count: strlen(path)))
    }
}
