import Configuration
import DisplayText
import MartletKit
import Terminal

/// The effects of keys on the page of configured servers, and of the answers.
extension Model {
    mutating func showDestinations() {
        page = .destinations(DestinationsPage())
        requests.append(.local(.places))
        if isConnected { ask(.serversUsed) { .problems(number: $0) } }
    }

    mutating func takeInDestinations(_ press: KeyPress, _ shown: DestinationsPage) {
        var destinations = shown
        destinations.note = nil
        guard var form = destinations.form else { return performInDestinations(press, destinations) }
        let outcome = form.take(press)
        destinations.form = form
        follow(outcome, destinations)
    }

    mutating func clickInDestinations(_ press: MousePress, _ shown: DestinationsPage) {
        guard press.button == .left, var form = shown.form,
            case .form(let target)? = Drawing.target(at: press.position, in: self)
        else { return }
        var destinations = shown
        destinations.note = nil
        let outcome = form.click(target)
        destinations.form = form
        follow(outcome, destinations)
    }

    private mutating func follow(_ outcome: Form<DestinationsPage.FieldID>.Outcome, _ shown: DestinationsPage) {
        var destinations = shown
        guard let form = destinations.form else { return }
        switch outcome {
        case .editing: break
        case .pressed(0) where destinations.asking != nil:
            guard let name = destinations.asking, !form.text(.password).isEmpty else {
                destinations.note = ("Type the password.", true)
                break
            }
            destinations.closeForm()
            test(name, password: form.text(.password), &destinations)
        case .pressed(0) where destinations.lettingIn != nil:
            if let (server, password) = destinations.signedIn(), let waiting = destinations.lettingIn {
                return letIn(waiting, server, password, destinations)
            }
        case .pressed(0) where destinations.signingIn != nil:
            if let (destination, password) = destinations.signedIn() {
                let saved = DestinationDeed.SavedDestination(destination: destination, password: password)
                save(.signIn(name: destination.name, saved), needsEngine: true, &destinations)
            }
        case .pressed(0) where destinations.editing != nil:
            if let (destination, password) = destinations.described() {
                let saved = DestinationDeed.SavedDestination(destination: destination, password: password)
                let isKept = destinations.editing?.login == .kept || password != nil
                save(.edit(name: destination.name, saved), needsEngine: isKept, &destinations)
            }
        case .pressed(0):
            if let (destination, password) = destinations.described() {
                guard isConnected || password == nil else {
                    destinations.note = ("The engine does not answer: it cannot keep a password now.", true)
                    break
                }
                destinations.note = ("Saving ...", false)
                let saved = DestinationDeed.SavedDestination(destination: destination, password: password)
                ask(.destination(.save(name: destination.name, saved)), isPatient: true) {
                    .destination(.save(name: destination.name, saved), number: $0)
                }
            }
        case .pressed, .back, .close:
            let isOfBatch = destinations.lettingIn != nil
            destinations.closeForm()
            // There is no list of servers that one came from.
            if isOfBatch { return showProblems() }
        case .help:
            openHelp()
            return
        }
        page = .destinations(destinations)
    }

    /// Gives waiting batches a login. The engine alone keeps it: nothing of it is remembered here.
    private mutating func letIn(
        _ waiting: DestinationsPage.WaitingBatches, _ server: Destination, _ password: String?,
        _ shown: DestinationsPage
    ) {
        guard isConnected else {
            var page = shown
            page.note = ("The engine does not answer: it cannot keep a password now.", true)
            return self.page = .destinations(page)
        }
        var secrets = password.map { server.kept(password: $0) } ?? TransferSecrets()
        if password == nil { (secrets.user, secrets.passwordCommand) = (server.user, server.passwordCommand) }
        ask(.lettingIn("\"\(look.safe(waiting.name))\"")) { .letIn(waiting.batches, secrets, number: $0) }
        showProblems()
    }

    /// A password is the engine's to keep, and to forget.
    private mutating func save(_ deed: DestinationDeed, needsEngine: Bool, _ page: inout DestinationsPage) {
        guard isConnected || !needsEngine else {
            return page.note = ("The engine does not answer: it cannot keep a password now.", true)
        }
        page.note = ("Saving ...", false)
        ask(.destination(deed), isPatient: true) { .destination(deed, number: $0) }
    }

    private mutating func performInDestinations(_ press: KeyPress, _ shown: DestinationsPage) {
        var destinations = shown
        let height = max(1, size.rows - 8)
        guard let action = keys.action(for: press, in: .destinations) else { return }
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
            if let user = try? book.userToAsk(name) {
                destinations.ask(passwordOf: user, for: name)
            } else {
                test(name, password: nil, &destinations)
            }
        case .remove:
            if let name = destinations.current?.name {
                ask(.destination(.remove(name)), isPatient: true) { .destination(.remove(name), number: $0) }
            }
        case .undo: ask(.destination(.restore), isPatient: true) { .destination(.restore, number: $0) }
        case .enter, .signIn:
            guard let current = destinations.current else {
                destinations.form = DestinationsPage.emptyForm()
                break
            }
            if action == .enter {
                destinations.edit(current)
            } else if TransferScheme(of: current.url) == .sftp {
                destinations.note = ("Your own ssh logs in there: its keys and agent are what lets you in.", false)
            } else {
                destinations.signIn(current)
            }
        case .add:
            guard let current = destinations.current else {
                destinations.form = DestinationsPage.emptyForm()
                break
            }
            page = .transfers
            add(.upload)
            adding?.send(to: "\(current.name):")
            return
        case .back:
            page = .transfers
            if destinations.cameFromProblems { showProblems() }
            return
        default: return perform(action)
        }
        page = .destinations(destinations)
    }

    private mutating func test(_ name: String, password: String?, _ page: inout DestinationsPage) {
        page.findings[name] = .asking
        ask(.destination(.test(name, password: password)), isPatient: true) {
            .destination(.test(name, password: password), number: $0)
        }
    }

    // MARK: What becomes of it

    mutating func destinationAnswered(_ outcome: DestinationOutcome, _ number: Int) {
        guard case .destination(let deed) = outstanding.removeValue(forKey: number)?.purpose else { return }
        if case .test(let text, _) = deed, adding?.review?.tested == text { adding?.review?.finding = outcome }
        switch outcome {
        case .changed(let file), .restored(_, let file, _): book = DestinationBook(file, environment: [:])
        case .edited(let file, _): book = DestinationBook(file, environment: [:])
        case .report, .failed: break
        }
        guard case .destinations(var shown) = page else { return }
        switch (deed, outcome) {
        case (.save(let name, _), .changed(let file)):
            shown.closeForm()
            shown.take(file)
            shown.select(name)
            shown.note = ("\(SafeText(name)) is saved; use it as \(SafeText(name)):PATH.", false)
            // One whose password has to be typed is tested when somebody wants it.
            if (try? book.userToAsk(name)) == nil { test(name, password: nil, &shown) }
        case (.edit(let name, _), .edited(let file, let isForgotten)):
            let remark: SafeText = isForgotten ? " The password was another server's and is forgotten: sign in." : ""
            saved(name, file, "\(SafeText(name)) is changed.\(remark)", &shown)
        case (.edit(let name, _), .changed(let file)):
            saved(name, file, "\(SafeText(name)) is changed.", &shown)
        case (.signIn(let name, let given), .changed(let file)):
            let how: SafeText =
                given.password == nil ? "the command gives the password" : "the engine keeps the password"
            saved(name, file, "\(SafeText(name)): \(how). What waits for it goes on when it is tried again.", &shown)
        case (.remove(let name), .changed(let file)):
            shown.take(file)
            shown.findings[name] = nil
            let key = keys.keys(for: .undo, in: .destinations).first?.name ?? "undo"
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
        case (_, .failed(let why)): shown.note = (look.safe(why), true)
        case (_, .changed), (_, .edited), (_, .report), (_, .restored): break
        }
        page = .destinations(shown)
    }

    /// It is asked at once, unless a person has to type something first.
    private mutating func saved(
        _ name: String, _ file: DestinationsFile, _ note: SafeText, _ shown: inout DestinationsPage
    ) {
        shown.closeForm()
        shown.take(file)
        shown.select(name)
        shown.note = (note, false)
        if (try? book.userToAsk(name)) == nil { test(name, password: nil, &shown) }
    }

    /// Takes the batches, to note the servers that they use.
    mutating func serversUsedCame(_ result: Result<[BatchSnapshot], RequestError>) {
        guard case .destinations(var shown) = page, case .success(let batches) = result else { return }
        shown.note(uses: batches)
        page = .destinations(shown)
    }
}
