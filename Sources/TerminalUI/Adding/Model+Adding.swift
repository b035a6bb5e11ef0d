import Configuration
import DisplayText
import MartletKit
import Terminal

/// Adding batches: what the steps want done, and what becomes of it.
extension Model {
    /// The steps of adding a batch, over the page.
    var adding: AddFlow? {
        get { layers[AddFlow.self] }
        set { layers[AddFlow.self] = newValue }
    }

    /// True when keys go to the steps; the pages of help and of names stand over them.
    var isAdding: Bool { adding?.isOpen(in: self) ?? false }

    /// Opens the steps, where they were left or anew.
    mutating func add(_ kind: AddFlow.Kind, pasting bytes: [UInt8]? = nil) {
        notice = nil
        let kept = drafts.kept[kind]
        var flow = kept ?? AddFlow(kind, at: drafts.startFolder)
        flow.picker.note = nil
        flow.picker.forgetLooks()
        begin(flow, kept: kept != nil, pasting: bytes)
    }

    /// The steps come onto the screen.
    mutating func begin(_ flow: AddFlow, kept: Bool = false, pasting bytes: [UInt8]? = nil) {
        guard layers.admits(AddFlow.self) else { return }
        var flow = flow
        flow.book = book
        follow(flow.opening)
        if let bytes {
            follow(flow.paste(bytes, shellWords, appearance))
        } else if kept, flow.kind == .upload, !flow.picker.basket.isEmpty {
            flow.picker.say("What was chosen before is still chosen.")
        }
        flow.picker.folder.resize(height: PickerLayout(size, flow.picker).list.count)
        adding = flow
    }

    fileprivate mutating func takeInAdding(_ press: KeyPress) {
        guard var flow = adding else { return }
        let effects = flow.take(press, keys, shellWords, appearance)
        adding = flow
        follow(effects)
    }

    fileprivate mutating func pasteInAdding(_ bytes: [UInt8]) {
        guard var flow = adding else { return }
        let effects = flow.paste(bytes, shellWords, appearance)
        adding = flow
        follow(effects)
    }

    /// Paths or URLs that were pasted outside any line.
    mutating func addPasted(_ bytes: [UInt8]) {
        let first = bytes.drop { $0 <= 0x20 }
        let text = String(decoding: first.prefix(12), as: UTF8.self)
        let isURL = TransferScheme(of: text) != nil && text.contains("://")
        add(isURL ? .download : .upload, pasting: bytes)
    }

    fileprivate mutating func clickInAdding(_ press: MousePress) {
        guard var flow = adding else { return }
        guard flow.isPicking else {
            guard press.button == .left, case .form(let target)? = Drawing.target(at: press.position, in: self) else {
                return
            }
            let effects = flow.click(target)
            adding = flow
            return follow(effects)
        }
        let layout = PickerLayout(size, flow.picker)
        defer { if adding != nil { adding = flow } }
        switch press.button {
        case .wheelDown: flow.picker.folder.page(by: 3)
        case .wheelUp: flow.picker.folder.page(by: -3)
        case .left:
            guard layout.list.contains(press.position.row) else { return }
            let row = flow.picker.folder.top + press.position.row - layout.list.lowerBound
            let isDouble =
                input.lastClick.map { $0.position == press.position && now.uptime - $0.at < .milliseconds(400) }
                ?? false
            input.lastClick = isDouble ? nil : (press.position, now.uptime)
            let onMark = press.position.column < 2
            follow(flow.follow(flow.picker.click(row: row, onMark: onMark, isDouble: isDouble)))
        case .middle, .right: break
        }
    }

    // MARK: What is wanted

    private mutating func follow(_ effects: [AddFlow.Effect]) {
        for effect in effects {
            switch effect {
            case .local(let request): requests.append(.local(request))
            case .queue(var order):
                order.replaced = adding?.replaced
                queue(order)
            case .test(let text):
                guard isConnected else { break }
                ask(DestinationRequest.test(text, password: nil))
            case .close: closeAdding(keeps: true)
            case .drop: closeAdding(keeps: false)
            case .help: HelpPage.open(in: &self)
            case .unsent: showUnsent()
            }
        }
    }

    private mutating func closeAdding(keeps: Bool) {
        guard let flow = adding else { return }
        adding = nil
        requests.append(.local(.stopAll))
        // What was chosen for something new waits on.
        if flow.repeated != nil { return }
        drafts.kept[flow.kind] = keeps ? flow : nil
        guard keeps, flow.kind == .upload, !flow.picker.basket.isEmpty else { return }
        say("\(Figures.amount(Int64(flow.picker.basket.count), "choice")) kept: \(key(.add)) goes on with them.")
    }

    private mutating func queue(_ order: AddOrder) {
        guard canChange else {
            adding?.review?.isQueueing = false
            adding?.review?.note = ("The engine does not answer: nothing can be queued now.", true)
            return
        }
        ask(.queueing(order), isPatient: true) { .queue(order, number: $0) }
    }

    /// Folders that batches of the list go to, however they were queued, each once.
    private var queuedPlaces: [String] {
        var places: [String] = []
        for row in tree.items.compactMap(\.row) {
            guard case .batch = row.id, let to = row.ends?.to, to.hasSuffix("/"), to.contains("://") else { continue }
            if !places.contains(to) { places.append(to) }
        }
        return places
    }

    // MARK: What becomes of it

    mutating func take(_ news: LocalNews) {
        if case .logout(let effect) = news { return leaving.logout = effect }
        if case .places(_, let recent, let file) = news {
            book = DestinationBook(file, environment: [:])
            let configured = file.destinations.map { destination in
                DestinationStep.Choice(
                    text: "\(destination.name):", detail: RecentPlaces.harmless(destination.url), isConfigured: true)
            }
            let queued = queuedPlaces.map { file.destinations.named($0) ?? $0 }
            let used = (recent.destinations + queued).map { text in
                configured.first { $0.text == text } ?? DestinationStep.Choice(text: text, detail: "used lately")
            }
            let book = book
            adding?.book = book
            // What was used last is what is proposed.
            let choices = Array(used.prefix(1)) + configured + used.dropFirst()
            var seen: Set<String> = []
            adding?.destination.offer(choices.filter { seen.insert($0.text).inserted })
            tellPage { $0.destinationsCame(file, in: &$1) }
        }
        guard var flow = adding else { return }
        let effects = flow.take(news, shellWords, appearance)
        adding = flow
        follow(effects)
    }

    mutating func queued(_ result: Result<BatchSnapshot, RequestError>, _ number: Int) {
        guard let request = requests.outstanding.removeValue(forKey: number),
            case .queueing(let order) = request.purpose
        else { return }
        switch result {
        case .success(let batch):
            changes.history.done(request, number, nil, at: now.uptime)
            if order.repeated == nil { drafts.kept[order.kind] = nil }
            // The form that was sent may stand over any page. Whoever has left it is met in the list alone.
            let isShown = shows(order)
            if isShown {
                adding = nil
                requests.append(.local(.stopAll))
            }
            let isListed = offer(TransfersPage(), on: isShown ? keyView : .transfers)
            // Its row mostly comes after this answer, and below what is in sight. The list of all files has no rows of batches, and a filter may
            // hide this one. A cursor that was moved meanwhile stays.
            let isMoved = request.cursor != nil && request.cursor != tree.cursor
            if isListed, !isMoved, !tree.isFlat, filters.shown == nil { tree.reveal([.batch(batch.id)]) }
            remember(order)
            let start: SafeText =
                switch order.start {
                case .now: ""
                case .held: " It is held: \(key(.pause)) lets it go."
                case .at:
                    batch.notBefore.map { " It starts at \(SafeText(String(appearance.date($0).prefix(16))))." } ?? ""
                }
            let place: SafeText = isListed ? "" : " It is in the list of transfers."
            say("Queued \(batch.id): \"\(appearance.safe(batch.name))\"." + start + place)
            if let old = order.replaced { cancelReplaced(old, by: batch) }
        case .failure(let error):
            forget(request, number, error)
            // One that was closed meanwhile can be gone on with when it is opened again.
            drafts.kept[order.kind]?.review?.isQueueing = false
            // The form is still there to be mended; when it was closed meanwhile, the message must not be lost.
            guard shows(order) else {
                return complain(appearance.safe(error.message))
            }
            let message = appearance.safe(error.message)
            adding?.review?.isQueueing = false
            adding?.review?.note = (message, true)
        }
    }

    /// Returns true while the form that was sent is still on the screen; another may have been opened since.
    private func shows(_ order: AddOrder) -> Bool {
        guard adding?.kind == order.kind, let review = adding?.review else { return false }
        return review.isQueueing && review.work == order.work
    }

    private mutating func remember(_ order: AddOrder) {
        switch order.work {
        case .upload(let sources, let destination):
            let folder = sources.first.flatMap { RawPath($0).parent?.bytes }
            requests.append(.local(.remember(destination: destination, folder: folder)))
            drafts.startFolder = folder ?? drafts.startFolder
        case .download(_, let folder): requests.append(.local(.remember(destination: nil, folder: folder)))
        }
    }
}

extension AddFlow: Layer {
    static var level: LayerLevel { .adding }
    static var hidesPage: Bool { true }
    func isOpen(in model: Model) -> Bool { !model.page.coversAdding }
    var wantsMouse: Bool? { isPicking || isReviewing }

    func take(_ press: KeyPress, in model: inout Model) { model.takeInAdding(press) }

    func paste(_ bytes: [UInt8], in model: inout Model) -> Bool {
        model.pasteInAdding(bytes)
        return true
    }

    func take(_ press: MousePress, in model: inout Model) { model.clickInAdding(press) }

    func draw(in drawing: inout Drawing) { drawing.adding(self) }
}

extension AddOrder {
    var kind: AddFlow.Kind {
        switch work {
        case .upload: .upload
        case .download: .download
        }
    }
}
