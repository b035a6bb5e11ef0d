import Configuration
import DisplayText
import MartletKit
import Terminal
import Wording

/// The configured servers: which there are, whether they answer, and a form for a new one.
struct DestinationsPage: Sendable {
    enum FieldID: Hashable, Sendable {
        case name, url, user, password, passwordCommand, profile, endpoint, limit
    }

    /// The result of asking a server on this screen.
    enum TestResult: Sendable {
        case asking
        case report(DestinationReport)
        /// The engine could not even ask.
        case failed(String)
    }

    var destinations: [Destination] = []
    /// The problems in the file: parts of it that do not count.
    var problems: [ConfigurationProblem] = []
    private(set) var cursor = ListCursor<String>()
    var findings: [String: TestResult] = [:]
    /// When each of these was found.
    var foundAt: [String: Timestamp] = [:]
    var form: (purpose: Purpose, fields: Form<FieldID>)?

    /// The reason why a form is filled in.
    enum Purpose: Sendable {
        case new
        /// Its section is changed.
        case edit(Destination)
        case signIn(Destination)
        /// Batches get a login that no server keeps for them. Nothing is known of the server beside its URL: only what is typed counts.
        case letIn(WaitingBatches)
        /// The server of this name is tested with a password that nothing else gives.
        case test(String)

        var edited: Destination? { if case .edit(let destination) = self { destination } else { nil } }
    }

    /// Batches that wait for a login.
    struct WaitingBatches: Hashable, Sendable {
        var batches: [BatchID]
        /// The name of one of them as it is called here, and where it goes.
        var name: String
        var url: String

        var server: Destination { Destination(name: name, url: url) }
    }

    /// When something was sent there or fetched from there last, by name.
    var used: [String: Use] = [:]

    enum Use: Hashable, Sendable {
        case now
        case at(Timestamp)
    }

    /// The last trouble that batches in the list met at a server, by the server's name.
    private(set) var trouble: [String: Trouble] = [:]
    /// To which files have gone, or from which they came.
    private(set) var served: Set<String> = []

    struct Trouble: Sendable {
        var batch: String
        /// Files.
        var count: Int64
        /// Behind the number of files.
        var told: String
        var at: Timestamp?
        var httpStatus: Int?
        /// Nobody is let in until a person does something.
        var isLogin = false

        /// Returns true when this one is told of the two.
        fileprivate func isBefore(_ other: Trouble) -> Bool {
            if isLogin != other.isLogin { return isLogin }
            guard let at else { return false }
            return other.at.map { $0 < at } ?? true
        }
    }

    var note: (text: SafeText, isError: Bool)?
    /// The URL of a problem; the cursor goes to its server.
    var sought: String?
    /// The same of batches that wait for a login: they are given one themselves where no server keeps it for them.
    var waiting: WaitingBatches?
    /// Esc goes back there.
    var cameFromProblems = false
    /// The first row in the window.
    private(set) var top = 0

    /// The line under the cursor.
    var selected: Int { cursor.index }
    var current: Destination? { destinations.indices.contains(selected) ? destinations[selected] : nil }

    mutating func show(_ file: DestinationsFile) {
        destinations = file.destinations
        problems = file.problems
        cursor.follow(destinations.map(\.name))
        if let sought { seek(sought) }
    }

    /// To the server that a URL lies at: the one that names most of its path, else another of the same host.
    private mutating func seek(_ url: String) {
        sought = nil
        if let waiting, destinations.above(url)?.login != .kept { return letIn(waiting) }
        let host = destinations.first { $0.url.urlHost == url.urlHost && !url.urlHost.isEmpty }
        if let name = destinations.above(url)?.name ?? host?.name { return select(name) }
        note = (
            "No configured server is at \(SafeText(TransferScheme.server(of: url))): its batch names the address itself.",
            true
        )
    }

    mutating func move(to line: Int, height: Int) {
        cursor.move(to: line, in: destinations.map(\.name))
        top = min(top, selected)
        if selected >= top + height { top = selected - height + 1 }
    }

    /// Refuses to change a server that was chosen and is gone; `nil`: none is.
    mutating func refusal() -> SafeText? {
        cursor.refusal("server", now: current.map { SafeText($0.name) }, in: destinations.map(\.name))
    }

    mutating func select(_ name: String) {
        guard let line = destinations.firstIndex(where: { $0.name == name }) else { return }
        cursor.move(to: line, in: destinations.map(\.name))
    }

    /// Notes the servers that batches use: for each batch the one that names most of where it goes.
    mutating func note(uses batches: [BatchSnapshot]) {
        for batch in batches {
            guard let name = destinations.above(batch.destination)?.name else { continue }
            note(trouble: batch, at: name)
            if batch.filesCompleted > 0 { served.insert(name) }
            let isOver = batch.finishedAt != nil
            switch used[name] {
            case .now: continue
            case .at(let before) where isOver && before >= batch.finishedAt ?? batch.createdAt: continue
            default: used[name] = batch.finishedAt.map { .at($0) } ?? .now
            }
        }
        forgetMended(batches)
        // Files went there after it was asked without success: that is the newer word.
        for (name, use) in used {
            guard case .at(let time) = use, served.contains(name), let asked = foundAt[name], time > asked else {
                continue
            }
            (findings[name], foundAt[name]) = (nil, nil)
        }
    }

    /// The newest counts; a wait for a login before any failure.
    private mutating func note(trouble batch: BatchSnapshot, at name: String) {
        let waits = batch.waits.filter { $0.reason == .auth }.map { wait in
            Trouble(
                batch: batch.name, count: wait.count,
                told: ": \(wait.message.isEmpty ? "it does not let them in" : wait.message)", at: wait.lastAt,
                isLogin: true)
        }
        let failures = batch.causes.map { cause in
            Trouble(
                batch: batch.name, count: cause.count, told: cause.told, at: cause.lastAt,
                httpStatus: cause.httpStatus)
        }
        for found in waits + failures {
            if let known = trouble[name], !found.isBefore(known) { continue }
            trouble[name] = found
        }
    }

    /// Forgets failures at a server where a batch went well later.
    private mutating func forgetMended(_ batches: [BatchSnapshot]) {
        for batch in batches where batch.state == .completed && batch.filesFailed == 0 {
            guard let name = destinations.above(batch.destination)?.name, let known = trouble[name], !known.isLogin,
                let at = known.at,
                let finished = batch.finishedAt, finished > at
            else { continue }
            trouble[name] = nil
        }
    }
}
