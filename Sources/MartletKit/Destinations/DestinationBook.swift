package import Configuration
import LinuxSystem
import ServiceWire
package import TransferModel

/// The configured servers, and what `NAME:path` means with them.
package struct DestinationBook: Sendable {
    package let destinations: [Destination]
    /// Problems of the file: the parts of it that do not count.
    package let problems: [ConfigurationProblem]
    private let faults: [String: ConfigurationProblem]
    /// The environment: it says what `~` stands for in the file's paths, and where keys of S3 are looked for.
    private let surroundings: S3Surroundings

    /// - Parameter environment: of the client (`ClientEnvironment`).
    package init(_ file: DestinationsFile, environment: [String: String]) {
        destinations = file.destinations
        (problems, faults) = (file.problems, file.faults)
        surroundings = S3Surroundings(environment)
    }

    /// No server is configured.
    package static func empty(environment: [String: String] = [:]) -> DestinationBook {
        DestinationBook(DestinationsFile(bytes: []), environment: environment)
    }

    package subscript(name: String) -> Destination? { destinations.first { $0.name == name } }

    /// A place at a server, as a person wrote it.
    package struct Place: Sendable {
        package let url: TransferURL
        /// Through which it was named.
        package let destination: Destination?

        /// The login whose password a person has to type, because nothing gives it. The user's own ssh asks for no password of ours.
        package var loginToAsk: LoginQuestion? {
            guard !url.scheme.facts.login.isByOwnProgram, url.password == nil else { return nil }
            if let user = url.user { return LoginQuestion(user: user, at: url) }
            guard let destination, destination.login != .kept, !destination.namesLogin else { return nil }
            return destination.user.map { LoginQuestion(user: $0, at: url) }
        }
    }

    /// Reads a URL or `NAME:path`.
    /// - Parameter place: names the operand in messages.
    package func place(_ text: String, _ place: String) throws(QueueingFault) -> Place {
        guard let (name, path) = Destination.split(text), TransferScheme(rawValue: name.lowercased()) == nil else {
            return Place(url: try TransferURL(text, place: place), destination: nil)
        }
        guard let destination = self[name] else {
            let nearest = Suggestion.nearest(to: name, among: destinations.map(\.name))
            let meant = TransferURL.meant(by: text)
            // A port after the colon: the name of a server.
            if nearest == nil, meant?.hasPrefix("https") == true {
                throw TransferURL.withoutScheme(text, place: place)
            }
            let remedy =
                nearest.map { "is it \($0)?" } ?? meant.map { "if that is a server, write \($0)" }
                ?? "martlet destination list shows those that are configured; or write a URL such as https://HOST/PATH"
            throw QueueingFault(.noSuchObject, "\(place): there is no destination \"\(name)\"", remedy)
        }
        if let fault = faults[name] {
            throw .usage(
                "\(place): \(name) is not used, as one of its lines does not count: \(fault.description(file: "destinations.conf"))",
                "mend that line first")
        }
        return Place(url: try TransferURL(Self.url(of: destination, path), place: place), destination: destination)
    }

    /// The destination's URL with a path below it. A path is plain text: it is percent-encoded here.
    static func url(of destination: Destination, _ path: String) -> String {
        let query = destination.url.firstIndex(of: "?") ?? destination.url.endIndex
        var base = String(destination.url[..<query])
        if !base.hasSuffix("/") { base += "/" }
        let below = path.utf8.drop { $0 == UInt8(ascii: "/") }
        return base + PercentText.encoded(below) + destination.url[query...]
    }

    // MARK: What a destination adds to a batch

    /// The options that its section gives; what the person gives besides counts more.
    package func options(of destination: Destination?) -> TransferOptions {
        var options = TransferOptions()
        guard let destination else { return options }
        options.ifExists = destination.ifExists.flatMap(ExistingFilePolicy.init(rawValue:)) ?? options.ifExists
        options.verify = destination.verify.flatMap(VerificationWish.init(rawValue:))
        options.bytesPerSecond = destination.limit?.bytesPerSecond
        options.limitOf = options.bytesPerSecond == nil ? nil : destination.name
        options.caFile = destination.authoritiesFile.map { RawPath(surroundings.expanded($0)) }
        options.pin = destination.pin
        options.insecure = destination.insecure
        options.sshCommand = destination.sshCommand
        options.chunkBytes = destination.chunk?.bytes
        options.uploadBy = destination.uploadBy.flatMap(HTTPUploadProtocol.init(rawValue:))
        if options.uploadBy == .form { options.form = UploadForm() }
        return options
    }

    /// The credentials of a batch by its section. The engine adds what it keeps itself.
    package func secrets(of destination: Destination?) -> TransferSecrets {
        var secrets = TransferSecrets()
        guard let destination else { return secrets }
        secrets.user = destination.user
        secrets.passwordCommand = destination.passwordCommand
        secrets.netrcFile = destination.netrcFile.map { RawPath(surroundings.expanded($0)) }
        return secrets
    }

    /// Completes a request for `place`: keys and endpoint of S3, and whose login the engine is to add.
    package func complete(_ request: inout BatchRequest, for place: Place) throws(QueueingFault) {
        request.destination = place.destination?.name
        if place.url.scheme.facts.login.signsRequests {
            let isKept = place.destination?.login == .kept
            try surroundings.complete(&request, destination: place.destination, needsKeys: !isKept)
        }
        // Without a login that is kept the engine has nothing to add.
        if place.destination?.login != .kept { request.destination = nil }
    }
}

extension DestinationBook {
    /// The login whose password has to be typed before a place can be asked.
    /// - Parameter text: a URL, `NAME:path` or a name alone.
    package func loginToAsk(_ text: String) throws(QueueingFault) -> LoginQuestion? {
        try place(Destination.isName(text) ? text + ":" : text, "NAME").loginToAsk
    }

    /// A request that asks about a place, and queues nothing.
    /// - Parameters:
    ///   - text: a URL, `NAME:path` or a name alone.
    ///   - password: of the user whom the URL or the destination names without one.
    package func question(
        _ text: String, password: String? = nil, environment: [String: String]
    ) throws(QueueingFault) -> BatchRequest {
        let place = try place(Destination.isName(text) ? text + ":" : text, "NAME")
        var request = BatchRequest(work: .upload([], to: place.url.text))
        request.options = options(of: place.destination)
        request.options.proxies = TransferOptions.proxies(of: environment)
        request.secrets = secrets(of: place.destination)
        if let user = place.url.user { (request.secrets.user, request.secrets.password) = (user, place.url.password) }
        if request.secrets.user != nil, request.secrets.password == nil { request.secrets.password = password }
        try complete(&request, for: place)
        return request
    }
}

extension Destination {
    /// The source of its login, in a word and in a phrase.
    package var loginSource: (word: String, meaning: String) {
        if login == .kept { return ("kept", "the engine keeps the password") }
        if passwordCommand != nil { return ("command", "a command gives the password") }
        if netrcFile != nil { return ("netrc", "a netrc file gives it") }
        if let profile { return ("profile", "keys of the AWS profile \(profile)") }
        if let source = TransferScheme(of: url)?.facts.login.source { return source }
        return user == nil ? ("none", "no login") : ("asked", "the password is asked for each time")
    }

    /// The credentials that the engine is to keep.
    package func kept(password: String) -> TransferSecrets {
        var secrets = TransferSecrets()
        if TransferScheme(of: url)?.facts.login.signsRequests == true {
            (secrets.s3, secrets.s3Origin) = (S3Keys(accessKeyID: user ?? "", secretAccessKey: password), .typed)
        } else {
            (secrets.user, secrets.password) = (user, password)
        }
        return secrets
    }
}

extension EngineConnection {
    /// The file as it is now; blocks on the disk.
    package nonisolated func destinationsFile() -> DestinationsFile {
        DestinationsFile(bytes: SmallFile.contents(places.destinationsFile) ?? [])
    }

    /// The configured servers as they are now; blocks on the disk.
    package nonisolated func destinationBook(environment: [String: String]) -> DestinationBook {
        DestinationBook(destinationsFile(), environment: environment)
    }

    /// The path of `destinations.conf`.
    package nonisolated var destinationsFilePath: String { places.destinationsFile }
}
