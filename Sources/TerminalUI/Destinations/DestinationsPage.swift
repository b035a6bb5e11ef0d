import Configuration
import DisplayText
import MartletKit
import Terminal

/// The configured servers: which there are, whether they answer, and a form for a new one.
struct DestinationsPage: Sendable {
    enum FieldID: Hashable, Sendable {
        case name, url, user, password, passwordCommand, profile, endpoint
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
    var note: (text: SafeText, isError: Bool)?
    /// Where a problem is, for the cursor to stand on its server.
    var sought: String?
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
        func place(_ text: String) -> String { String(text.drop { $0 != ":" }) }
        let below = destinations.filter { place(url).hasPrefix(place($0.url)) }.max { $0.url.count < $1.url.count }
        let host = destinations.first { $0.url.urlHost == url.urlHost && !url.urlHost.isEmpty }
        if let name = (below ?? host)?.name { return select(name) }
        note = ("No configured server is at \(SafeText(url.urlHost)): its batch names the address itself.", true)
    }

    mutating func move(by rows: Int, height: Int) {
        selected = min(max(0, selected + rows), max(0, destinations.count - 1))
        top = min(top, selected)
        if selected >= top + max(1, height) { top = selected - max(1, height) + 1 }
    }

    mutating func select(_ name: String) { selected = destinations.firstIndex { $0.name == name } ?? selected }

    static func emptyForm() -> Form<FieldID> {
        Form(
            [
                .text(.name, "Name", help: "Short: it stands before the colon in NAME:path."),
                .text(.url, "Address", help: "A URL such as sftp://ana@nas.local/backup/ or s3://bucket/photos/."),
                .text(
                    .user, "User", help: "Whose password it is; for S3 the access key ID. Empty: the address says it."),
                .text(
                    .password, "Password", help: "The engine keeps it; for S3 the secret key. Empty: none.",
                    isSecret: true),
                .text(
                    .passwordCommand, "or a command", help: "Its first line is the password, asked for each time."),
                .text(.profile, "AWS profile", help: "S3 alone: take the keys from ~/.aws/credentials."),
                .text(.endpoint, "S3 endpoint", help: "S3 alone: the URL of a service that is not AWS."),
            ], buttons: ["Save and test", "Cancel"])
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

    mutating func closeForm() { (form, asking) = (nil, nil) }

    /// What the form describes, and the password to be kept; `nil`: a field is wrong, and the note says which.
    mutating func described() -> (destination: Destination, password: String?)? {
        guard let form else { return nil }
        let name = form.text(.name)
        guard Destination.isName(name), TransferScheme(rawValue: name.lowercased()) == nil else {
            return wrong(.name, "A name has letters, digits, dots, dashes, and is no protocol's.")
        }
        guard !destinations.contains(where: { $0.name == name }) else {
            return wrong(.name, "There is a destination \(SafeText(name)) already.")
        }
        let url: TransferURL
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
        var destination = Destination(name: name, url: url.text)
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
        if password != nil { destination.login = .kept }
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
    /// This one is there again.
    case restored(String, DestinationsFile, loginIsGone: Bool = false)
    case report(DestinationReport)
    case failed(String)
}
