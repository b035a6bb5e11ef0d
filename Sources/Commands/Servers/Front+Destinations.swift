import CommandLine
import Configuration
import LinuxSystem
import MartletKit

/// Configured servers: `destinations.conf`, and the logins that the engine keeps for them.
extension Front {
    /// The servers that are configured; what of the file does not count is said.
    func destinationBook() -> DestinationBook {
        let file = surroundings.destinationsFile()
        for problem in file.problems { console.note("martlet: \(problem.description(file: "destinations.conf"))") }
        return DestinationBook(file, environment: surroundings.environment)
    }

    /// One line of `destination list`.
    private struct ListedDestination: Encodable {
        let name: String
        /// Without user info.
        let url: String
        let scheme: String
        let user: String?
        let login: String

        enum CodingKeys: CodingKey { case name, url, scheme, user, login }

        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: CodingKeys.self)
            try object.encode(name, forKey: .name)
            try object.encode(url, forKey: .url)
            try object.encode(scheme, forKey: .scheme)
            try object.encode(user, forKey: .user)
            try object.encode(login, forKey: .login)
        }
    }

    func listDestinations(_ invocation: Invocation) throws(CommandFailure) -> ExitStatus {
        let rows = destinationBook().destinations.map { destination in
            ListedDestination(
                name: destination.name, url: RecentPlaces.harmless(destination.url),
                scheme: TransferScheme(of: destination.url)?.rawValue ?? "", user: destination.user,
                login: destination.loginWord)
        }
        if invocation.has(CommonOptions.json) {
            for row in rows { console.json(row) }
            return .done
        }
        if rows.isEmpty {
            console.note("no destination is configured: martlet destination add NAME URL")
            return .done
        }
        let table = TextTable(
            columns: [
                .init(title: "Name", width: 16), .init(title: "Login", width: 10), .init(title: "User", width: 12),
            ], lastTitle: "Address", width: console.outputIsTerminal ? console.width : nil)
        console.line(table.header)
        for row in rows { console.line(table.row([row.name, row.login, row.user ?? "-"], row.url)) }
        return .done
    }

    // MARK: add

    func addDestination(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let (name, url) = try newDestination(invocation)
        try refuse(invocation.value(QueueOptions.ifExists), invocation)
        let file = surroundings.destinationsFile()
        guard file[name] == nil || invocation.has(DestinationOptions.replace) else {
            throw CommandFailure(
                .refused, .refused, "destination add: there is a destination \"\(name)\"",
                "give --replace to put this one in its place")
        }
        var destination = Destination(name: name, url: url.text)
        try fill(&destination, invocation)
        if destination.user == nil { destination.user = url.user }
        try findKeys(&destination, url)
        let changes = try destinationChanges()
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
        guard let name = invocation.operands[0].text, let text = invocation.operands[1].text else {
            throw .usage("destination add: NAME and URL are UTF-8", "write them again")
        }
        guard Destination.isName(name) else {
            throw .usage(
                "destination add: \"\(name)\" is no name", "use up to 64 letters, digits, dots, dashes and underscores")
        }
        guard TransferScheme(rawValue: name.lowercased()) == nil else {
            throw .usage("destination add: \(name) is the name of a protocol", "choose another one")
        }
        do throws(QueueingFault) {
            let url = try TransferURL(text, place: "URL")
            let endpoint = invocation.value(DestinationOptions.endpoint) ?? ""
            guard url.query.isEmpty, !endpoint.contains(where: { "@?#".contains($0) }) else {
                // It may be a token, and would stand in the file.
                throw .usage("a configured server's URL has a query or a user of S3 in it", "leave it out")
            }
            return url.path.hasSuffix("/") ? (name, url) : (name, try TransferURL(Self.withSlash(text), place: "URL"))
        } catch {
            throw CommandFailure(error, command: "destination add")
        }
    }

    /// A destination is a folder.
    private static func withSlash(_ text: String) -> String { text.prefix { $0 != "#" } + "/" }

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
        destination.wireProtocol = invocation.value(QueueOptions.wireProtocol)?.rawValue
        destination.chunk = invocation.value(QueueOptions.chunk)
        destination.limit = invocation.value(QueueOptions.limit)
        destination.ifExists = invocation.value(QueueOptions.ifExists)?.rawValue
        destination.verify = invocation.value(QueueOptions.verify)?.rawValue
        destination.profile = invocation.value(DestinationOptions.profile)
        destination.endpoint = invocation.value(DestinationOptions.endpoint)
        destination.region = invocation.value(DestinationOptions.region)
    }

    /// The password that the engine is to keep; `nil`: none is needed, or it comes from elsewhere each time.
    private func password(for destination: Destination, _ url: TransferURL) throws(CommandFailure) -> String? {
        if let password = url.password { return password }
        guard let user = destination.user, destination.passwordCommand == nil, destination.netrcFile == nil,
            destination.profile == nil, url.scheme != .sftp
        else { return nil }
        let what = url.scheme == .s3 ? "Secret key" : "Password"
        guard let typed = surroundings.askPassword("\(what) of \(user): ") else {
            throw .usage(
                "destination add: there is no terminal to ask for the password of \(user)",
                "give --password-command, --netrc or --profile")
        }
        return typed
    }

    /// Asks, where no keys of S3 are found, for the ID of the access key whose secret is to be kept.
    private func findKeys(_ destination: inout Destination, _ url: TransferURL) throws(CommandFailure) {
        guard url.scheme == .s3, destination.user == nil else { return }
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
        let asked = surroundings.askPassword("No keys of S3 were found. Access key ID to be kept (empty: none): ")
        if let asked, !asked.isEmpty {
            destination.user = asked
        } else {
            console.note(
                "martlet: \(destination.name): no keys of S3 were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY "
                    + "when you send there, or give --user ID or --profile")
        }
    }

    // MARK: test

    func testDestination(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let word = invocation.operands[0].text ?? invocation.operands[0].shown
        let request: BatchRequest
        do throws(QueueingFault) {
            let book = destinationBook()
            var password: String?
            if let user = try book.userToAsk(word) {
                password = surroundings.askPassword("Password of \(user): ")
                guard password != nil else {
                    let known = Destination.isName(word) ? word : "NAME"
                    throw QueueingFault.usage(
                        "there is no terminal to ask for the password of \(user)",
                        "run it in one, or have the engine keep it: martlet destination add \(known) --replace URL")
                }
            }
            request = try book.question(word, password: password, environment: surroundings.environment)
        } catch {
            throw CommandFailure(error, command: "destination test")
        }
        let report = try await ask(takesItsTime: true) { engine throws(RequestError) in try await engine.test(request) }
        if invocation.has(CommonOptions.json) {
            console.json(report)
        } else {
            let shown = ShownAddress.of(word)
            let login =
                Destination.isName(word)
                ? "check user and password in the screen's page of servers (D)" : "check user and password"
            console.line(report.sentence(shown, console.units, login: login) + ".")
        }
        return report.ok ? .done : .refused
    }
}
