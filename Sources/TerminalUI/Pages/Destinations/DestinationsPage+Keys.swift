import Configuration
import DisplayText
import MartletKit
import Terminal

/// The keys of the page of configured servers, and what it asks and is answered.
extension DestinationsPage: Page {
    static var view: KeyMap.View { .destinations }
    static var opener: Action? { .destinations }
    static var openingKeys: [String] { ["D", "5"] }
    var formHelp: FormHelp? { form == nil ? nil : .server }
    func wantsMouse(in model: Model) -> Bool { form != nil }

    static func open(in model: inout Model) {
        model.page = DestinationsPage()
        model.requests.append(.local(.places))
        askWhatIsUsed(in: &model)
    }

    func connected(in model: inout Model) { Self.askWhatIsUsed(in: &model) }

    private static func askWhatIsUsed(in model: inout Model) { model.askOnce(view) { .batches(number: $0) } }

    /// True: every key is the page's own.
    var isTyping: Bool { form != nil }

    func take(_ press: KeyPress, in model: inout Model) -> Bool {
        var destinations = self
        destinations.note = nil
        guard var form = destinations.form else {
            destinations.perform(press, in: &model)
            return true
        }
        let outcome = form.take(press)
        destinations.form = form
        destinations.follow(outcome, in: &model)
        return true
    }

    func paste(_ bytes: [UInt8], in model: inout Model) -> Bool {
        guard form != nil else { return false }
        var shown = self
        shown.form?.paste(bytes)
        model.page = shown
        return true
    }

    /// Actions that did not come by a key of the page.
    func perform(_ action: Action, in model: inout Model) { if action == .help { model.openHelp() } }

    func take(_ press: MousePress, in model: inout Model) {
        guard press.button == .left, var form,
            case .form(let target)? = Drawing.target(at: press.position, in: model)
        else { return }
        var destinations = self
        destinations.note = nil
        let outcome = form.click(target)
        destinations.form = form
        destinations.follow(outcome, in: &model)
    }

    private func follow(_ outcome: Form<FieldID>.Outcome, in model: inout Model) {
        var destinations = self
        guard let form = destinations.form else { return }
        switch outcome {
        case .editing: break
        case .pressed(0) where destinations.asking != nil:
            guard let name = destinations.asking, !form.text(.password).isEmpty else {
                destinations.note = ("Type the password.", true)
                break
            }
            destinations.closeForm()
            destinations.test(name, password: form.text(.password), in: &model)
        case .pressed(0) where destinations.lettingIn != nil:
            if let (server, password) = destinations.signedIn(), let waiting = destinations.lettingIn {
                return destinations.letIn(waiting, server, password, in: &model)
            }
        case .pressed(0) where destinations.signingIn != nil:
            if let (destination, password) = destinations.signedIn() {
                let saved = DestinationRequest.SavedDestination(destination: destination, password: password)
                destinations.save(.signIn(name: destination.name, saved), needsEngine: true, in: &model)
            }
        case .pressed(0) where destinations.editing != nil:
            if let (destination, password) = destinations.described() {
                let saved = DestinationRequest.SavedDestination(destination: destination, password: password)
                let isKept = destinations.editing?.login == .kept || password != nil
                destinations.save(.edit(name: destination.name, saved), needsEngine: isKept, in: &model)
            }
        case .pressed(0):
            if let (destination, password) = destinations.described() {
                guard model.isConnected || password == nil else {
                    destinations.note = ("The engine does not answer: it cannot keep a password now.", true)
                    break
                }
                destinations.note = ("Saving ...", false)
                let saved = DestinationRequest.SavedDestination(destination: destination, password: password)
                model.ask(.destination(.save(name: destination.name, saved)), isPatient: true) {
                    .destination(.save(name: destination.name, saved), number: $0)
                }
            }
        case .pressed, .back, .close:
            let isOfBatch = destinations.lettingIn != nil
            destinations.closeForm()
            // There is no list of servers that one came from.
            if isOfBatch { return ProblemsPage.open(in: &model) }
        case .help:
            model.openHelp()
            return
        }
        model.page = destinations
    }

    /// Gives waiting batches a login. The engine alone keeps it: nothing of it is remembered here.
    private func letIn(
        _ waiting: WaitingBatches, _ server: Destination, _ password: String?, in model: inout Model
    ) {
        guard model.isConnected else {
            var page = self
            page.note = ("The engine does not answer: it cannot keep a password now.", true)
            return model.page = page
        }
        var secrets = password.map { server.kept(password: $0) } ?? TransferSecrets()
        if password == nil { (secrets.user, secrets.passwordCommand) = (server.user, server.passwordCommand) }
        model.ask(.lettingIn("\"\(model.appearance.safe(waiting.name))\"")) {
            .letIn(waiting.batches, secrets, number: $0)
        }
        ProblemsPage.open(in: &model)
    }

    /// A password is the engine's to keep, and to forget.
    private mutating func save(_ deed: DestinationRequest, needsEngine: Bool, in model: inout Model) {
        guard model.isConnected || !needsEngine else {
            return note = ("The engine does not answer: it cannot keep a password now.", true)
        }
        note = ("Saving ...", false)
        model.ask(.destination(deed), isPatient: true) { .destination(deed, number: $0) }
    }

    private func perform(_ press: KeyPress, in model: inout Model) {
        var destinations = self
        let height = max(1, model.size.rows - 8)
        guard let action = model.keys.action(for: press, in: .destinations) else { return }
        switch action {
        case .down: destinations.move(by: 1, height: height)
        case .up: destinations.move(by: -1, height: height)
        case .pageDown, .halfPageDown: destinations.move(by: height, height: height)
        case .pageUp, .halfPageUp: destinations.move(by: -height, height: height)
        case .first: destinations.move(by: -destinations.destinations.count, height: height)
        case .last: destinations.move(by: destinations.destinations.count, height: height)
        case .new: destinations.form = DestinationsPage.emptyForm()
        case .test:
            guard let name = destinations.current?.name else { break }
            if let user = try? model.book.userToAsk(name) {
                destinations.ask(passwordOf: user, for: name)
            } else {
                destinations.test(name, password: nil, in: &model)
            }
        case .remove:
            if let name = destinations.current?.name {
                model.ask(.destination(.remove(name)), isPatient: true) { .destination(.remove(name), number: $0) }
            }
        case .undo: model.ask(.destination(.restore), isPatient: true) { .destination(.restore, number: $0) }
        case .enter, .signIn:
            guard let current = destinations.current else {
                destinations.form = DestinationsPage.emptyForm()
                break
            }
            if action == .enter {
                destinations.edit(current)
            } else if TransferScheme(of: current.url)?.facts.login == .ssh {
                destinations.note = ("Your own ssh logs in there: its keys and agent are what lets you in.", false)
            } else {
                destinations.signIn(current)
            }
        case .add:
            guard let current = destinations.current else {
                destinations.form = DestinationsPage.emptyForm()
                break
            }
            model.page = TransfersPage()
            model.add(.upload)
            model.adding?.send(to: "\(current.name):")
            return
        case .back:
            model.page = TransfersPage()
            if destinations.cameFromProblems { ProblemsPage.open(in: &model) }
            return
        default: return model.perform(action)
        }
        model.page = destinations
    }

    private mutating func test(_ name: String, password: String?, in model: inout Model) {
        findings[name] = .asking
        model.ask(.destination(.test(name, password: password)), isPatient: true) {
            .destination(.test(name, password: password), number: $0)
        }
    }

    // MARK: What becomes of it

    static func take(_ answer: Answer, in model: inout Model) -> Bool {
        switch answer {
        case .destination(let outcome, let number): take(outcome, number, in: &model)
        case .batches(let result, let number):
            guard model.requests.isAnswer(number, to: view) else { return false }
            take(used: result, in: &model)
        default: return false
        }
        return true
    }

    private static func take(_ outcome: DestinationOutcome, _ number: Int, in model: inout Model) {
        guard case .destination(let deed) = model.requests.outstanding.removeValue(forKey: number)?.purpose else {
            return
        }
        if case .test(let text, _) = deed, model.adding?.review?.tested == text {
            model.adding?.review?.finding = outcome
        }
        switch outcome {
        case .changed(let file), .restored(_, let file, _): model.book = DestinationBook(file, environment: [:])
        case .edited(let file, _): model.book = DestinationBook(file, environment: [:])
        case .report, .failed: break
        }
        guard var shown = model.page as? DestinationsPage else { return }
        switch (deed, outcome) {
        case (.save(let name, _), .changed(let file)):
            shown.closeForm()
            shown.take(file)
            shown.select(name)
            shown.note = ("\(SafeText(name)) is saved; use it as \(SafeText(name)):PATH.", false)
            // One whose password has to be typed is tested when somebody wants it.
            if (try? model.book.userToAsk(name)) == nil { shown.test(name, password: nil, in: &model) }
        case (.edit(let name, _), .edited(let file, let isForgotten)):
            let remark: SafeText = isForgotten ? " The password was another server's and is forgotten: sign in." : ""
            shown.saved(name, file, "\(SafeText(name)) is changed.\(remark)", in: &model)
        case (.edit(let name, _), .changed(let file)):
            shown.saved(name, file, "\(SafeText(name)) is changed.", in: &model)
        case (.signIn(let name, let given), .changed(let file)):
            let how: SafeText =
                given.password == nil ? "the command gives the password" : "the engine keeps the password"
            shown.saved(
                name, file, "\(SafeText(name)): \(how). What waits for it goes on when it is tried again.", in: &model)
        case (.remove(let name), .changed(let file)):
            shown.take(file)
            shown.findings[name] = nil
            let key = model.keys.keys(for: .undo, in: .destinations).first?.name ?? "undo"
            shown.note = (
                "\(SafeText(name)) is removed; what is queued for it goes on.  \(SafeText(key)) undo (24 h)", false
            )
        case (.restore, .restored(let name, let file, let loginIsGone)):
            shown.take(file)
            shown.select(name)
            let back: SafeText = "\(SafeText(name)) is back"
            shown.note = (
                back + (loginIsGone ? ", but its password is gone: remove it and describe it anew." : "."), loginIsGone
            )
        case (.test(let name, _), .report(let report)): shown.findings[name] = .report(report)
        case (.test(let name, _), .failed(let why)): shown.findings[name] = .failed(why)
        case (_, .failed(let why)): shown.note = (model.appearance.safe(why), true)
        case (_, .changed), (_, .edited), (_, .report), (_, .restored): break
        }
        model.page = shown
    }

    /// It is asked at once, unless a person has to type something first.
    private mutating func saved(_ name: String, _ file: DestinationsFile, _ words: SafeText, in model: inout Model) {
        closeForm()
        take(file)
        select(name)
        note = (words, false)
        if (try? model.book.userToAsk(name)) == nil { test(name, password: nil, in: &model) }
    }

    /// Takes the batches, to note the servers that they use.
    private static func take(used result: Result<[BatchSnapshot], RequestError>, in model: inout Model) {
        guard var shown = model.page as? DestinationsPage, case .success(let batches) = result else { return }
        shown.note(uses: batches)
        model.page = shown
    }

    func take(_ file: DestinationsFile, in model: inout Model) {
        var shown = self
        shown.take(file)
        model.page = shown
    }

    func draw(in drawing: inout Drawing) { drawing.destinations(self) }
}

extension KeyMap.View {
    package static let destinations = Self(
        "destinations", place: "destinations", page: DestinationsPage.self,
        words: [.enter: Words(help: "change it")],
        keys: KeyMap.moving + KeyMap.everywhere + KeyMap.pages + [
            (.enter, ["Enter"]), (.test, ["t"]), (.new, ["n"]), (.remove, ["x", "F8", "Del"]), (.signIn, ["r"]),
            (.undo, ["u"]),
            (.add, ["a", "F2"]), KeyMap.back(from: DestinationsPage.self, "h", "Left"),
        ])
}
