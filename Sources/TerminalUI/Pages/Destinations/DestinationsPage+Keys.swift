import Configuration
import DisplayText
import MartletKit
import Terminal

/// The keys of the page of configured servers, and what it asks and is answered.
extension DestinationsPage: Page {
    static var view: KeyMap.View { .destinations }
    static var opener: Action? { .destinations }
    static var openingKeys: [String] { ["D", "5"] }
    static var command: String? { "destination list" }
    var formHelp: FormHelp? { form == nil ? nil : .server }
    func wantsMouse(in model: Model) -> Bool { form != nil }

    /// The servers of an engine elsewhere are kept there.
    static func obstacle(in model: Model) -> SafeText? {
        model.machine.map { "Servers of \($0) are kept there: see them there, with martlet destination list." }
    }

    static func open(in model: inout Model) {
        var page = DestinationsPage()
        (page.findings, page.foundAt) = (model.askedServers.findings, model.askedServers.times)
        model.go(to: page)
        model.requests.append(.local(.places))
        model.askForBatches(for: view)
    }

    mutating func connected(in model: inout Model) { model.askForBatches(for: Self.view) }

    /// None does: what is undone here is a removal from the file of servers.
    func changesTransfers(_ action: Action) -> Bool { false }

    var isTyping: Bool { form != nil }

    mutating func typed(_ press: KeyPress, in model: inout Model) -> Bool {
        guard let outcome = form?.fields.take(press) else { return false }
        note = nil
        follow(outcome, in: &model)
        return true
    }

    mutating func paste(_ bytes: [UInt8], in model: inout Model) -> Bool {
        form?.fields.paste(bytes)
        return form != nil
    }

    mutating func clicked(_ press: MousePress, in model: inout Model) {
        guard press.button == .left, case .form(let target)? = Drawing.target(at: press.position, in: model),
            let outcome = form?.fields.click(target)
        else { return }
        note = nil
        follow(outcome, in: &model)
    }

    private mutating func follow(_ outcome: Form<FieldID>.Outcome, in model: inout Model) {
        guard let purpose = form?.purpose else { return }
        switch outcome {
        case .editing: break
        case .pressed(0): finish(purpose, in: &model)
        case .pressed, .back, .close:
            form = nil
            // There is no list of servers that one came from.
            if case .letIn = purpose { ProblemsPage.open(in: &model) }
        case .help: HelpPage.open(in: &model)
        }
    }

    /// Does what the form was opened for, unless a field is wrong.
    private mutating func finish(_ purpose: Purpose, in model: inout Model) {
        switch purpose {
        case .new, .edit:
            guard let (destination, password) = described(purpose.edited) else { return }
            let saved = DestinationRequest.SavedDestination(
                destination: destination, password: password, read: purpose.edited)
            let isNew = purpose.edited == nil
            save(
                isNew ? .save(name: destination.name, saved) : .edit(name: destination.name, saved), in: &model)
        case .signIn(let server):
            guard let (destination, password) = signedIn(at: server) else { return }
            let saved = DestinationRequest.SavedDestination(
                destination: destination, password: password, read: server)
            save(.signIn(name: destination.name, saved), in: &model)
        case .letIn(let waiting):
            guard let (server, password) = signedIn(at: waiting.server) else { return }
            letIn(waiting, server, password, in: &model)
        case .test(let name):
            guard let password = form?.fields.text(.password), !password.isEmpty else {
                return note = ("Type the password.", true)
            }
            form = nil
            test(name, password: password, in: &model)
        }
    }

    /// Gives waiting batches a login. The engine alone keeps it: nothing of it is remembered here.
    private mutating func letIn(
        _ waiting: WaitingBatches, _ server: Destination, _ password: String?, in model: inout Model
    ) {
        guard model.isConnected else { return note = (Self.cannotKeep, true) }
        var secrets = password.map { server.kept(password: $0) } ?? TransferSecrets()
        if password == nil { (secrets.user, secrets.passwordCommand) = (server.user, server.passwordCommand) }
        model.ask(.lettingIn("\"\(model.appearance.safe(waiting.name))\"")) {
            .act(.set(NodeSettings(), secrets: secrets), .ids(waiting.batches.map(NodeID.batch)), number: $0)
        }
        ProblemsPage.open(in: &model)
    }

    private static let cannotKeep: SafeText = "The engine does not answer: it cannot keep a password now."

    private mutating func save(_ request: DestinationRequest, in model: inout Model) {
        guard model.isConnected || !request.needsEngine else { return note = (Self.cannotKeep, true) }
        note = ("Saving ...", false)
        model.ask(request)
    }

    mutating func perform(_ action: Action, in model: inout Model) {
        note = nil
        let height = max(1, model.size.rows - 8)
        if let line = action.line(from: selected, leap: height) { return move(to: line, height: height) }
        if action == .remove, let refusal = refusal() { return note = (refusal, true) }
        switch action {
        case .new: describeNew()
        case .test:
            guard let name = current?.name else { return }
            if let login = try? model.book.loginToAsk(name) {
                ask(passwordOf: login, for: name)
            } else {
                test(name, password: nil, in: &model)
            }
        case .remove: if let name = current?.name { model.ask(DestinationRequest.remove(name)) }
        case .undo: model.ask(DestinationRequest.restore)
        case .enter, .signIn, .add:
            guard let current else { return describeNew() }
            if action == .add {
                model.goToTransfers()
                model.add(.upload)
                model.adding?.send(to: "\(current.name):")
            } else if action == .enter {
                edit(current)
            } else if TransferScheme(of: current.url)?.facts.login.isByOwnProgram == true {
                note = ("Your own ssh logs in there: its keys and agent are what lets you in.", false)
            } else {
                signIn(current)
            }
        case .back: if cameFromProblems { ProblemsPage.open(in: &model) } else { model.goToTransfers() }
        default: break
        }
    }

    fileprivate mutating func test(_ name: String, password: String?, in model: inout Model) {
        findings[name] = .asking
        model.ask(DestinationRequest.test(name, password: password))
    }

    // MARK: What becomes of it

    /// Takes the result of a request that was made here.
    mutating func took(_ request: DestinationRequest, _ outcome: DestinationOutcome, in model: inout Model) {
        // The form is over when what was typed is saved, or its section is there no more. Another one may be open by then.
        let isOver =
            switch outcome {
            case .changed, .edited, .changedMeanwhile: isFormOf(request)
            case .restored, .report, .failed: false
            }
        if isOver { form = nil }
        switch (request, outcome) {
        case (.save(let name, _), .changed(let file)):
            saved(name, file, "\(SafeText(name)) is saved; use it as \(SafeText(name)):PATH.", in: &model)
        case (.edit(let name, _), .edited(let file, let isForgotten)):
            let remark: SafeText = isForgotten ? " The password was another server's and is forgotten: sign in." : ""
            saved(name, file, "\(SafeText(name)) is changed.\(remark)", in: &model)
        case (.edit(let name, _), .changed(let file)):
            saved(name, file, "\(SafeText(name)) is changed.", in: &model)
        case (.signIn(let name, let given), .changed(let file)):
            let how: SafeText =
                given.password == nil ? "the command gives the password" : "the engine keeps the password"
            saved(
                name, file, "\(SafeText(name)): \(how). What waits for it goes on when it is tried again.", in: &model)
        case (.remove(let name), .changed(let file)):
            show(file)
            (findings[name], foundAt[name]) = (nil, nil)
            model.askedServers.forget(name)
            let key = model.keys.keys(for: .undo, in: .destinations).first?.name ?? "undo"
            note = (
                "\(SafeText(name)) is removed; what is queued for it goes on.  \(SafeText(key)) undo (24 h)", false
            )
        case (.restore, .restored(let name, let file, let loginIsGone)):
            show(file)
            select(name)
            let back: SafeText = "\(SafeText(name)) is back"
            note = (
                back + (loginIsGone ? ", but its password is gone: remove it and describe it anew." : "."), loginIsGone
            )
        case (.test(let name, _), .report), (.test(let name, _), .failed):
            (findings[name], foundAt[name]) = (model.askedServers.findings[name], model.askedServers.times[name])
        case (_, .changedMeanwhile(let file, let why)):
            show(file)
            note = (model.appearance.safe(why), true)
        case (_, .failed(let why)): note = (model.appearance.safe(why), true)
        case (_, .changed), (_, .edited), (_, .report), (_, .restored): break
        }
    }

    /// True while the form that the request was made of is open.
    private func isFormOf(_ request: DestinationRequest) -> Bool {
        switch (request, form?.purpose) {
        case (.save(let name, _), .new?): form?.fields.text(.name) == name
        case (.edit(let name, _), .edit(let read)?), (.signIn(let name, _), .signIn(let read)?): read.name == name
        default: false
        }
    }

    /// It is asked at once, unless a person has to type something first.
    private mutating func saved(_ name: String, _ file: DestinationsFile, _ words: SafeText, in model: inout Model) {
        show(file)
        select(name)
        note = (words, false)
        if (try? model.book.loginToAsk(name)) == nil { test(name, password: nil, in: &model) }
    }

    /// Notes the servers that the batches use.
    mutating func batchesCame(_ result: Result<[BatchSnapshot], RequestError>, in model: inout Model) {
        if case .success(let batches) = result { note(uses: batches) }
    }

    mutating func destinationsCame(_ file: DestinationsFile, in model: inout Model) { show(file) }

    func draw(in drawing: inout Drawing) { drawing.destinations(self) }
}

extension KeyMap.View {
    package static let destinations = Self(
        "destinations", nameInHelp: "destinations", page: DestinationsPage.self,
        words: [.enter: Words(help: "change it", hint: "edit"), .add: Words(hint: "send there")],
        keys: KeyMap.moving + KeyMap.everywhere + KeyMap.pages + [
            (.enter, ["Enter"]), (.test, ["t"]), (.new, ["n"]), (.remove, ["x", "F8", "Del"]), (.signIn, ["r"]),
            (.undo, ["u"]),
            (.add, ["a", "F2"]), KeyMap.back(from: DestinationsPage.self, "h", "Left"),
        ])
}
