import Configuration
import MartletKit
import DisplayText

/// The forms for a server: a new one, another address or login, a password for a test.
extension DestinationsPage {
    mutating func describeNew() {
        let name = Form<FieldID>.Field.text(.name, "Name", help: "Short: it stands before the colon in NAME:path.")
        form = (.new, Form([name] + Self.descriptions(nil), buttons: ["Save and test", "Cancel"]))
    }

    /// The fields that describe a server beside its name.
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
                help: "Bytes a second of all batches for it together, such as 8M. Empty: no cap."),
        ]
    }

    /// Opens the form on a server that is there.
    mutating func edit(_ destination: Destination) {
        form = (.edit(destination), Form(Self.descriptions(destination), buttons: ["Save and test", "Cancel"]))
    }

    /// Has a login typed, or the command that gives it.
    mutating func signIn(_ destination: Destination) { form = (.signIn(destination), Self.loginForm(of: destination)) }

    /// Has a login typed for batches alone.
    mutating func letIn(_ waiting: WaitingBatches) { form = (.letIn(waiting), Self.loginForm(of: waiting.server)) }

    private static func loginForm(of destination: Destination) -> Form<FieldID> {
        let hasKeys = TransferScheme(of: destination.url)?.facts.login.signsRequests == true
        var form = Form<FieldID>(
            [
                .text(
                    .user, hasKeys ? "Access key" : "User", destination.user ?? "",
                    help: hasKeys ? "The access key ID." : "Whose password or token it is."),
                .text(
                    .password, hasKeys ? "Secret key" : "Password",
                    help: "A password, a token or a key. The engine keeps it, and nobody else.", isSecret: true),
                .text(
                    .passwordCommand, "or a command", destination.passwordCommand ?? "",
                    help: "Its first line is the password, asked for each time. The password above has to be empty."),
            ], buttons: ["Sign in", "Cancel"])
        if destination.user != nil { form.select(.password) }
        return form
    }

    /// Has the password typed that a test needs and nothing else gives.
    mutating func ask(passwordOf login: LoginQuestion, for name: String) {
        let password = Form<FieldID>.Field.text(
            .password, "Password", help: "For \(login.words); for this test alone, and kept nowhere.", isSecret: true)
        form = (.test(name), Form([password], buttons: ["Test", "Cancel"]))
    }

    /// Reads the login's form; `nil`: a field is wrong, and the note says which.
    mutating func signedIn(at server: Destination) -> (destination: Destination, password: String?)? {
        guard let form = form?.fields else { return nil }
        var destination = server
        let (user, password) = (form.text(.user), form.text(.password))
        let command = form.text(.passwordCommand)
        guard password.isEmpty != command.isEmpty else {
            return wrong(
                .password, command.isEmpty ? "Type the password, or the command that prints it." : "One of the two.")
        }
        if Destination.isRelative(command: command) { return wrong(.passwordCommand, Self.relativeCommand) }
        guard !user.contains(":") else { return wrong(.user, "The name alone: the password has a field of its own.") }
        destination.user = user.isEmpty ? nil : user
        destination.passwordCommand = command.isEmpty ? nil : command
        if !password.isEmpty, destination.user == nil { return wrong(.user, "Whose password is it?") }
        // What was asked for before is asked for no more.
        if !password.isEmpty { (destination.netrcFile, destination.profile) = (nil, nil) }
        destination.login = password.isEmpty ? .none : .kept
        return (destination, password.isEmpty ? nil : password)
    }

    /// Reads the form: the server, and the password to be kept; `nil`: a field is wrong, and the note says which.
    /// - Parameter editing: the server as it was; `nil`: it is a new one.
    mutating func described(_ editing: Destination?) -> (destination: Destination, password: String?)? {
        guard let form = form?.fields else { return nil }
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
            if url.hasFragment { return wrong(.url, "A # ends an address: write %23 for one in a name.") }
            if !url.query.isEmpty { return wrong(.url, "Leave the query (?...) out: it would stand in the file.") }
        } catch {
            return wrong(.url, SafeText(error.message))
        }
        guard !form.text(.user).contains(":") else {
            return wrong(.user, "The name alone: the password has a field of its own.")
        }
        guard !form.text(.endpoint).utf8.contains(where: { "@?#".utf8.contains($0) }) else {
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
        if Destination.isRelative(command: command) { return wrong(.passwordCommand, Self.relativeCommand) }
        destination.passwordCommand = command.isEmpty ? nil : command
        let hasKeys = url.scheme.facts.login.signsRequests
        if hasKeys {
            destination.profile = form.text(.profile).isEmpty ? nil : form.text(.profile)
            destination.endpoint = form.text(.endpoint).isEmpty ? nil : form.text(.endpoint)
        }
        if password != nil, destination.user == nil {
            return wrong(
                .user, hasKeys ? "Whose secret key is it? Type the access key ID." : "Whose password is it?")
        }
        if editing == nil || password != nil { destination.login = password == nil ? .none : .kept }
        return (destination, password)
    }

    private static let relativeCommand: SafeText = "Give the command's absolute path: it is run in /."

    private mutating func wrong(_ field: FieldID, _ why: SafeText) -> (Destination, String?)? {
        form?.fields.select(field)
        note = (why, true)
        return nil
    }
}

extension FormHelp {
    static let server = FormHelp(
        place: "a server",
        lines: fields + [
            Line("Left Right", "along the line, or to the next button"), Line("Enter", "next field, or the button"),
        ]
            + editing + [Line("Esc ^C", "close without a change")])
}
