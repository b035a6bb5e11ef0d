import CommandLine
import Configuration
import MartletKit

/// `martlet destination add`.
struct DestinationAddCommand: EngineCommand {
    let context: CommandContext

    static let replace = Option.flag("replace", "take the place of a destination of that name")
    static let profile = Option(
        "profile", ValueSyntax<String>.text("P"), "take the keys of S3 from this profile of ~/.aws/credentials")
    static let endpoint = Option("endpoint", ValueSyntax<String>.url("URL"), "where the S3 service is; default: AWS")
    static let region = Option("region", ValueSyntax<String>.text("R"), "the region of S3")

    static let command = Command(
        "add", "configure a server, to be used as NAME:PATH",
        details: [
            "A password is asked for when the URL or --user names a user and nothing says where the password comes from; the engine "
                + "keeps it in its store of secrets. destinations.conf never has one. A section of it in which a line does not count is not "
                + "used until that is mended.",
            "The keys of S3 are taken from the environment or AWS's files when a batch is queued. With --user ID the secret key is "
                + "asked for and kept; where no keys are found, both are asked for.",
            "--limit is one limit for all batches that go there together; a batch that is given its own (--limit, set) has it for itself.",
        ],
        operands: [Operand(ValueSyntax<String>.text("NAME")), Operand(ValueSyntax<String>.url("URL"))],
        groups: [
            OptionGroup(
                "Credentials and trust",
                [
                    QueueOptions.user, QueueOptions.passwordCommand, QueueOptions.netrc, profile,
                    QueueOptions.certificates, QueueOptions.pin, QueueOptions.insecure, QueueOptions.sshCommand,
                ]),
            OptionGroup(
                "Defaults for what is sent there",
                [
                    QueueOptions.ifExists, QueueOptions.verify, QueueOptions.limit, QueueOptions.uploadBy,
                    QueueOptions.chunk, endpoint, region,
                ]),
            OptionGroup("Options", [replace, CommonOptions.json]),
        ],
        examples: [
            .init(
                line: "martlet destination add nas sftp://ana@nas.local/backup/", effect: "Use nas:photos/ from now on")
        ])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let (name, url) = try newDestination(invocation)
        try QueueOptions.refuseUnbuilt(invocation.value(QueueOptions.ifExists), invocation)
        let file = surroundings.destinationsFile()
        guard file[name] == nil || invocation.has(Self.replace) else {
            throw CommandFailure(
                .refused, .refused, "destination add: there is a destination \"\(name)\"",
                "give --replace to put this one in its place")
        }
        var destination = Destination(name: name, url: url.text)
        try fill(&destination, invocation)
        if destination.user == nil { destination.user = url.user }
        try findKeys(&destination, url)
        let changes = try context.destinationChanges()
        // A password for what cannot be written need not be asked for.
        do { _ = try file.setting(destination) } catch {
            throw .usage("destination add: \(error.what)", error.remedy)
        }
        let password = try password(for: destination, url)
        do throws(RequestError) {
            try await changes.add(destination, password: password, replaces: true)
        } catch {
            throw CommandFailure(error, command: "destination add")
        }
        if invocation.has(CommonOptions.json) {
            console.json(ChangedDestination(name: name, result: .done, code: nil))
        } else {
            console.line("\(name): added; use it as \(name):PATH")
        }
        return .done
    }

    private func newDestination(_ invocation: Invocation) throws(CommandFailure) -> (String, TransferURL) {
        // Both are text, or the command would have been refused.
        let (name, text) = (invocation.operands[0].text ?? "", invocation.operands[1].text ?? "")
        guard Destination.isName(name) else {
            throw .usage(
                "destination add: \"\(name)\" is no name", "use up to 64 letters, digits, dots, dashes and underscores")
        }
        guard TransferScheme(rawValue: name.lowercased()) == nil else {
            throw .usage("destination add: \(name) is the name of a protocol", "choose another one")
        }
        do throws(QueueingFault) {
            let url = try TransferURL(text, place: "URL")
            if url.hasFragment { throw TransferURL.hash(in: text, place: "URL") }
            let endpoint = invocation.value(Self.endpoint) ?? ""
            // It may be a token, and would stand in the file.
            guard url.query.isEmpty else { throw .usage("the URL of a configured server has a query", "leave it out") }
            guard !endpoint.utf8.contains(where: { "@?#".utf8.contains($0) }) else {
                throw .usage("the endpoint is more than scheme, host and path", "leave user and query out")
            }
            // A destination is a folder.
            return url.path.hasSuffix("/") ? (name, url) : (name, try TransferURL(text + "/", place: "URL"))
        } catch {
            throw CommandFailure(error, command: "destination add")
        }
    }

    private func fill(_ destination: inout Destination, _ invocation: Invocation) throws(CommandFailure) {
        func path(_ option: Option<[UInt8]>) throws(CommandFailure) -> String? {
            guard let given = invocation.value(option) else { return nil }
            guard let text = SourcePath.absolute(given, from: surroundings.currentDirectory).text else {
                throw .usage("destination add: --\(option.name): the path is not UTF-8", "give another one")
            }
            return text
        }
        destination.user = invocation.value(QueueOptions.user)
        destination.passwordCommand = invocation.value(QueueOptions.passwordCommand)
        destination.netrcFile = try path(QueueOptions.netrc)
        destination.authoritiesFile = try path(QueueOptions.certificates)
        destination.pin = invocation.value(QueueOptions.pin)
        destination.insecure = invocation.has(QueueOptions.insecure)
        destination.sshCommand = invocation.value(QueueOptions.sshCommand)
        destination.uploadBy = invocation.value(QueueOptions.uploadBy)?.rawValue
        destination.chunk = invocation.value(QueueOptions.chunk)
        destination.limit = invocation.value(QueueOptions.limit)
        destination.ifExists = invocation.value(QueueOptions.ifExists)?.rawValue
        destination.verify = invocation.value(QueueOptions.verify)?.rawValue
        destination.profile = invocation.value(Self.profile)
        destination.endpoint = invocation.value(Self.endpoint)
        destination.region = invocation.value(Self.region)
    }

    /// The password that the engine is to keep; `nil`: none is needed, or it comes from elsewhere each time.
    private func password(for destination: Destination, _ url: TransferURL) throws(CommandFailure) -> String? {
        if let password = url.password { return password }
        let kind = url.scheme.facts.login
        guard let user = destination.user, !destination.namesLogin, !kind.isByOwnProgram else { return nil }
        guard let typed = try surroundings.askPassword(LoginQuestion(user: user, at: url).prompt(kind.secret))
        else {
            throw .usage(
                "destination add: there is no terminal to ask for the password of \(user)",
                "give --password-command, --netrc or --profile")
        }
        return typed
    }

    /// Asks, where no keys of S3 are found, for the ID of the access key whose secret is to be kept.
    private func findKeys(_ destination: inout Destination, _ url: TransferURL) throws(CommandFailure) {
        guard url.scheme.facts.login.signsRequests, destination.user == nil else { return }
        do throws(QueueingFault) {
            if try S3Surroundings(surroundings.environment).hasKeys(of: destination) { return }
        } catch {
            throw CommandFailure(error, command: "destination add")
        }
        if let profile = destination.profile {
            throw .usage(
                "destination add: no keys were found in the AWS profile \(profile)",
                "write them into ~/.aws/credentials, or give --user ID, whose secret key is asked for")
        }
        let asked = try surroundings.askPassword("No keys of S3 were found. Access key ID to be kept (empty: none): ")
        if let asked, !asked.isEmpty {
            destination.user = asked
        } else {
            console.note(
                "martlet: \(destination.name): no keys of S3 were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY "
                    + "when you send there, or give --user ID or --profile")
        }
    }
}
