import Configuration
import MartletKit

/// A change or a test of a configured server. The last step of adding tests, too.
enum DestinationRequest: Hashable, Sendable {
    /// `password`: for the engine to keep.
    case save(name: String, SavedDestination)
    /// Another section for one that is there; a password that is kept stays.
    case edit(name: String, SavedDestination)
    /// A login for one that is there.
    case signIn(name: String, SavedDestination)
    /// Without a question: it can be had again for a day.
    case remove(String)
    /// The one that was removed last.
    case restore
    /// A name, or a URL or `NAME:path` of the steps of adding.
    case test(String, password: String?)

    /// A destination can be compared by what is written of it.
    struct SavedDestination: Hashable, Sendable {
        let destination: Destination
        let password: String?
        /// The section that the form was filled from; `nil`: it is a new one.
        var read: Destination?

        static func == (one: SavedDestination, other: SavedDestination) -> Bool {
            one.destination == other.destination && one.password == other.password && one.read == other.read
        }

        func hash(into hasher: inout Hasher) { hasher.combine(destination.name) }
    }
}

/// The result of a `DestinationRequest`.
enum DestinationOutcome: Sendable {
    /// It is so now; the file as it is.
    case changed(DestinationsFile)
    /// It is so now; the login that was kept is forgotten, because it was another server's.
    case edited(DestinationsFile, loginIsForgotten: Bool)
    /// This one is there again.
    case restored(String, DestinationsFile, loginIsGone: Bool = false)
    case report(DestinationReport)
    /// Nothing was saved, because another section than the form's is there by now; the file as it is.
    case changedMeanwhile(DestinationsFile, String)
    case failed(String)
}

extension DestinationRequest: PageRequest {
    /// A test waits for a server, a change for the file's lock.
    var isPatient: Bool { true }
    /// A password is the engine's to keep, and to forget.
    var needsEngine: Bool {
        switch self {
        case .save(_, let saved), .edit(_, let saved): saved.password != nil || saved.read?.login == .kept
        case .signIn, .test: true
        case .remove, .restore: false
        }
    }

    func answer(at desk: RequestDesk) async -> DestinationOutcome {
        let (engine, environment) = (desk.engine, desk.environment)
        let changes = DestinationChanges(
            engine.destinationsFilePath, logins: engine, environment: environment, files: desk.files,
            now: { TerminalUI.wallTime.milliseconds })
        do throws(RequestError) {
            switch self {
            case .save(_, let saved):
                return .changed(try await changes.add(saved.destination, password: saved.password))
            case .edit(_, let saved):
                if let password = saved.password {
                    return .changed(
                        try await changes.add(
                            saved.destination, password: password, replaces: true, read: saved.read))
                }
                let edited = try await changes.edit(saved.destination, read: saved.read)
                return .edited(edited.file, loginIsForgotten: edited.isForgotten)
            case .signIn(_, let saved):
                return .changed(
                    try await changes.add(
                        saved.destination, password: saved.password, replaces: true, read: saved.read))
            case .remove(let name):
                return .changed(try await changes.remove(name) ?? engine.destinationsFile())
            case .restore:
                let restored = try await changes.restore(nil)
                return .restored(restored.name, restored.file, loginIsGone: restored.loginIsGone)
            case .test(let text, let password):
                let prepared = await desk.files.run { () -> Result<BatchRequest, RequestError> in
                    do throws(QueueingFault) {
                        let book = engine.destinationBook(environment: environment)
                        return .success(try book.question(text, password: password, environment: environment))
                    } catch {
                        return .failure(RequestError(.usage, error.message))
                    }
                }
                return .report(try await engine.test(try prepared.get()))
            }
        } catch {
            if let read {
                let file = await desk.files.run { engine.destinationsFile() }
                if file[read.name] != read { return .changedMeanwhile(file, error.message) }
            }
            return .failed(error.message)
        }
    }

    /// The section that a form was filled from; `nil`: there is none.
    private var read: Destination? {
        switch self {
        case .edit(_, let saved), .signIn(_, let saved): saved.read
        case .save, .remove, .restore, .test: nil
        }
    }

    func answered(_ result: Result<DestinationOutcome, RequestError>, number: Int, in model: inout Model) {
        // A failure is an outcome, too.
        guard case .success(let outcome) = result else { return }
        if case .test(let text, _) = self, model.adding?.review?.tested == text {
            model.adding?.review?.finding = outcome
        }
        if case .test(let text, _) = self { model.askedServers.note(outcome, of: text, at: model.engineNow.wall) }
        switch outcome {
        case .changed(let file), .restored(_, let file, _), .edited(let file, _), .changedMeanwhile(let file, _):
            model.book = DestinationBook(file, environment: [:])
        case .report, .failed: break
        }
        model.tellPage(DestinationsPage.self) { $0.took(self, outcome, in: &$1) }
    }
}
