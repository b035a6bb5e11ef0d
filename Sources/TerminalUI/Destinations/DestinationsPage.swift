import Configuration
import DisplayText
import MartletKit
import Terminal

/// The configured servers: which there are, whether they answer, and a form for a new one.
struct DestinationsPage: Sendable {
    enum FieldID: Hashable, Sendable {
        case name, url, user, password, passwordCommand, profile, endpoint, limit
    }

    /// What is known of a server since the page was opened.
    enum Finding: Sendable {
        case asking
        case report(DestinationReport)
        /// The engine could not even ask.
        case failed(String)
    }

    var destinations: [Destination] = []
    /// What of the file does not count.
    var problems: [ConfigurationProblem] = []
    var selected = 0
    var findings: [String: Finding] = [:]
    /// A new server is being described, or a password typed for a test.
    var form: Form<FieldID>?
    /// The server that is tested with what the form asks for.
    private(set) var asking: String?
    /// The one whose section is changed in the form.
    private(set) var editing: Destination?
    /// The one that the form gives a login.
    private(set) var signingIn: Destination?
    /// Batches that wait for a login, when they are what it is given to, and what they are called.
    private(set) var lettingIn: WaitingBatches?

    struct WaitingBatches: Hashable, Sendable {
        var batches: [BatchID]
        /// Of one of them: what it is called here, and where it goes.
        var name: String
        var url: String
    }

    /// When something was sent there or fetched from there last, by name.
    var used: [String: Use] = [:]

    enum Use: Hashable, Sendable {
        case now
        case at(Timestamp)
    }

    /// What batches in the list have met there last, by name.
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

        /// Whether it is what is told of the two.
        fileprivate func isBefore(_ other: Trouble) -> Bool {
            if isLogin != other.isLogin { return isLogin }
            guard let at else { return false }
            return other.at.map { $0 < at } ?? true
        }
    }

    var note: (text: SafeText, isError: Bool)?
    /// Where a problem is, for the cursor to stand on its server.
    var sought: String?
    /// The same of batches that wait for a login: they are given one themselves where no server keeps it for them.
    var waiting: WaitingBatches?
    /// Esc goes back there.
    var cameFromProblems = false
    /// The first row in the window.
    private(set) var top = 0

    var current: Destination? { destinations.indices.contains(selected) ? destinations[selected] : nil }

    mutating func take(_ file: DestinationsFile) {
        let name = current?.name
        destinations = file.destinations
        problems = file.problems
        selected = destinations.firstIndex { $0.name == name } ?? min(selected, max(0, destinations.count - 1))
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

    mutating func move(by rows: Int, height: Int) {
        selected = min(max(0, selected + rows), max(0, destinations.count - 1))
        top = min(top, selected)
        if selected >= top + max(1, height) { top = selected - max(1, height) + 1 }
    }

    mutating func select(_ name: String) { selected = destinations.firstIndex { $0.name == name } ?? selected }

    static func emptyForm() -> Form<FieldID> {
        Form(
            [.text(.name, "Name", help: "Short: it stands before the colon in NAME:path.")] + descriptions(nil),
            buttons: ["Save and test", "Cancel"])
    }

    /// What is described of a server beside its name.
    /// - Parameter old: as it is; a password that is kept is shown to nobody and changed by signing in.
    private static func descriptions(_ old: Destination?) -> [Form<FieldID>.Field] {
        let password: [Form<FieldID>.Field] =
            old == nil
            ? [
                .text(
                    .password, "Password", help: "The engine keeps it; for S3 the secret key. Empty: none.",
                    isSecret: true)
            ] : []
        return [
            .text(
                .url, "Address", old?.url ?? "",
                help: "A URL such as sftp://ana@nas.local/backup/ or s3://bucket/photos/."),
            .text(
                .user, "User", old?.user ?? "",
                help: "Whose password it is; for S3 the access key ID. Empty: the address says it."),
        ] + password + [
            .text(
                .passwordCommand, old == nil ? "or a command" : "Command", old?.passwordCommand ?? "",
                help: "Its first line is the password, asked for each time."),
            .text(
                .profile, "AWS profile", old?.profile ?? "", help: "S3 alone: take the keys from ~/.aws/credentials."),
            .text(
                .endpoint, "S3 endpoint", old?.endpoint ?? "",
                help: "S3 alone: the URL of a service that is not AWS."),
            .text(
                .limit, "Limit", old?.limit?.written ?? "",
                help: "Bytes a second that each batch for it may use, such as 8M. Empty: no cap."),
        ]
    }

    /// Opens the form on a server that is there.
    mutating func edit(_ destination: Destination) {
        editing = destination
        form = Form(Self.descriptions(destination), buttons: ["Save and test", "Cancel"])
    }

    /// Has a login typed, or the command that gives it.
    mutating func signIn(_ destination: Destination) {
        signingIn = destination
        loginForm(of: destination)
    }

    /// Has a login typed for batches alone.
    private mutating func letIn(_ waiting: WaitingBatches) {
        lettingIn = waiting
        // As it is named nowhere: only what is typed counts.
        let server = Destination(name: waiting.name, url: waiting.url)
        signIn(server)
    }

    private mutating func loginForm(of destination: Destination) {
        let isS3 = TransferScheme(of: destination.url) == .s3
        form = Form(
            [
                .text(
                    .user, isS3 ? "Access key" : "User", destination.user ?? "",
                    help: isS3 ? "The access key ID." : "Whose password or token it is."),
                .text(
                    .password, isS3 ? "Secret key" : "Password",
                    help: "A password, a token or a key. The engine keeps it, and nobody else.", isSecret: true),
                .text(
                    .passwordCommand, "or a command", destination.passwordCommand ?? "",
                    help: "Its first line is the password, asked for each time. The password above has to be empty."),
            ], buttons: ["Sign in", "Cancel"])
        if destination.user != nil { form?.select(.password) }
    }

    /// Has the password typed that a test needs and nothing else gives.
    mutating func ask(passwordOf user: String, for name: String) {
        asking = name
        form = Form(
            [
                .text(
                    .password, "Password", help: "Of \(user); for this test alone, and kept nowhere.", isSecret: true)
            ], buttons: ["Test", "Cancel"])
    }

    /// Which servers batches are of: the one that names most of where a batch goes.
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
    }

    /// The newest counts; a wait for a login before any failure.
    private mutating func note(trouble batch: BatchSnapshot, at name: String) {
        let waits = batch.waits.filter { $0.reason == .auth }.map { wait in
            Trouble(batch: batch.name, count: wait.count, told: ": \(wait.message)", at: wait.lastAt, isLogin: true)
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

    /// What went well there later mends what failed before.
    private mutating func forgetMended(_ batches: [BatchSnapshot]) {
        for batch in batches where batch.state == .completed && batch.filesFailed == 0 {
            guard let name = destinations.above(batch.destination)?.name, let known = trouble[name], !known.isLogin,
                let at = known.at,
                let finished = batch.finishedAt, finished > at
            else { continue }
            trouble[name] = nil
        }
    }

    mutating func closeForm() { (form, asking, editing, signingIn, lettingIn) = (nil, nil, nil, nil, nil) }

    /// What the login's form says; `nil`: a field is wrong, and the note says which.
    mutating func signedIn() -> (destination: Destination, password: String?)? {
        guard let form, var destination = signingIn else { return nil }
        let (user, password) = (form.text(.user), form.text(.password))
        let command = form.text(.passwordCommand)
        guard password.isEmpty != command.isEmpty else {
            return wrong(
                .password, command.isEmpty ? "Type the password, or the command that prints it." : "One of the two.")
        }
        guard !user.contains(":") else { return wrong(.user, "The name alone: the password has a field of its own.") }
        destination.user = user.isEmpty ? nil : user
        destination.passwordCommand = command.isEmpty ? nil : command
        if !password.isEmpty, destination.user == nil { return wrong(.user, "Whose password is it?") }
        // What was asked for before is asked for no more.
        if !password.isEmpty { (destination.netrcFile, destination.profile) = (nil, nil) }
        destination.login = password.isEmpty ? .none : .kept
        return (destination, password.isEmpty ? nil : password)
    }

    /// What the form describes, and the password to be kept; `nil`: a field is wrong, and the note says which.
    mutating func described() -> (destination: Destination, password: String?)? {
        guard let form else { return nil }
        let name = editing?.name ?? form.text(.name)
        guard editing != nil || Destination.isName(name),
            editing != nil || TransferScheme(rawValue: name.lowercased()) == nil
        else {
            return wrong(.name, "A name has letters, digits, dots, dashes, and is no protocol's.")
        }
        guard editing != nil || !destinations.contains(where: { $0.name == name }) else {
            return wrong(.name, "There is a destination \(SafeText(name)) already.")
        }
        let url: TransferURL
        guard !form.text(.url).isEmpty else {
            return wrong(.url, "Type where it is, such as sftp://host/folder/ or https://host/folder/.")
        }
        do throws(QueueingFault) {
            let text = form.text(.url)
            url = try TransferURL(text.hasSuffix("/") || text.contains("?") ? text : text + "/", place: "The address")
            if !url.query.isEmpty { return wrong(.url, "Leave the query (?...) out: it would stand in the file.") }
        } catch {
            return wrong(.url, SafeText(error.message))
        }
        guard !form.text(.user).contains(":") else {
            return wrong(.user, "The name alone: the password has a field of its own.")
        }
        guard !form.text(.endpoint).contains(where: { "@?#".contains($0) }) else {
            return wrong(.endpoint, "The endpoint is host and path alone: user and keys are asked for elsewhere.")
        }
        let limit = form.text(.limit)
        guard limit.isEmpty || RateLimit(limit) != nil else {
            return wrong(.limit, "The limit is bytes a second such as 512K or 8M, or nothing.")
        }
        // What the form does not show stays.
        var destination = editing ?? Destination(name: name, url: url.text)
        destination.url = url.text
        destination.limit = limit.isEmpty ? nil : RateLimit(limit)
        (destination.profile, destination.endpoint) = (nil, nil)
        destination.user = form.text(.user).isEmpty ? url.user : form.text(.user)
        let typed = form.text(.password)
        let password = typed.isEmpty ? url.password : typed
        let command = form.text(.passwordCommand)
        destination.passwordCommand = command.isEmpty ? nil : command
        if url.scheme == .s3 {
            destination.profile = form.text(.profile).isEmpty ? nil : form.text(.profile)
            destination.endpoint = form.text(.endpoint).isEmpty ? nil : form.text(.endpoint)
        }
        if password != nil, destination.user == nil {
            return wrong(
                .user, url.scheme == .s3 ? "Whose secret key is it? Type the access key ID." : "Whose password is it?")
        }
        if editing == nil || password != nil { destination.login = password == nil ? .none : .kept }
        return (destination, password)
    }

    private mutating func wrong(_ field: FieldID, _ why: SafeText) -> (Destination, String?)? {
        form?.select(field)
        note = (why, true)
        return nil
    }
}

/// What is done about a configured server.
enum DestinationDeed: Hashable, Sendable {
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

        static func == (one: SavedDestination, other: SavedDestination) -> Bool {
            one.destination == other.destination && one.password == other.password
        }

        func hash(into hasher: inout Hasher) { hasher.combine(destination.name) }
    }
}

/// What became of a `DestinationDeed`.
enum DestinationOutcome: Sendable {
    /// It is so now; the file as it is.
    case changed(DestinationsFile)
    /// It is so now; the login that was kept is forgotten, because it was another server's.
    case edited(DestinationsFile, loginIsForgotten: Bool)
    /// This one is there again.
    case restored(String, DestinationsFile, loginIsGone: Bool = false)
    case report(DestinationReport)
    case failed(String)
}
