import CommandLine
import Configuration
import MartletKit

extension BatchRequest {
    /// A request with the options that `upload` and `download` have in common.
    init(
        _ work: Work, _ invocation: Invocation, _ surroundings: Surroundings,
        defaults: TransferOptions = TransferOptions()
    ) {
        self.init(work: work)
        session = invocation.value(QueueOptions.session) ?? .default
        name = invocation.value(QueueOptions.name)
        held = invocation.has(QueueOptions.hold)
        priority = invocation.value(QueueOptions.priority) ?? .normal
        options = TransferOptions(invocation, surroundings, defaults)
    }
}

extension TransferOptions {
    /// - Parameter defaults: of the destination.
    fileprivate init(_ invocation: Invocation, _ surroundings: Surroundings, _ defaults: TransferOptions) {
        self = defaults
        ifExists = invocation.value(QueueOptions.ifExists) ?? ifExists
        ifChanged = invocation.value(QueueOptions.ifChanged) ?? ifChanged
        verify = invocation.value(QueueOptions.verify) ?? verify
        sha256 = invocation.value(QueueOptions.sha256)
        if let limit = invocation.value(QueueOptions.limit) { (bytesPerSecond, limitOf) = (limit.bytesPerSecond, nil) }
        notBefore = invocation.value(QueueOptions.notBefore).map {
            Timestamp(milliseconds: $0.milliseconds(now: surroundings.now(), calendar: surroundings.calendar))
        }
        giveUpAfterSeconds = invocation.value(QueueOptions.giveUpAfter)?.seconds ?? giveUpAfterSeconds
        requestTimeoutSeconds = invocation.value(QueueOptions.requestTimeout)?.seconds ?? requestTimeoutSeconds
        let (included, excluded) = (invocation.values(QueueOptions.include), invocation.values(QueueOptions.exclude))
        // Given ones stand for all of the defaults'.
        if !(included.isEmpty && excluded.isEmpty) { (include, exclude) = (included, excluded) }
        followLinks = invocation.has(QueueOptions.followLinks) || followLinks
        if let file = invocation.value(QueueOptions.certificates) {
            caFile = SourcePath.absolute(file, from: surroundings.currentDirectory)
        }
        pin = invocation.value(QueueOptions.pin) ?? pin
        insecure = invocation.has(QueueOptions.insecure) || insecure
        umask = surroundings.umask
        proxies = Self.proxies(of: surroundings.environment)
        if let way = invocation.value(QueueOptions.uploadBy) { uploadBy = way }
        if invocation.value(QueueOptions.method) == .post { uploadBy = .post }
        if invocation.value(QueueOptions.method) == .put { uploadBy = .put }
        let fields = invocation.values(QueueOptions.field)
        if let name = invocation.value(QueueOptions.form)
            ?? (uploadBy == .form || !fields.isEmpty ? form?.fileField ?? "file" : nil)
        {
            uploadBy = .form
            form = UploadForm(fileField: name)
        }
        chunkBytes = invocation.value(QueueOptions.chunk)?.bytes ?? chunkBytes
        sshCommand =
            invocation.value(QueueOptions.sshCommand) ?? sshCommand ?? surroundings.environment["MARTLET_SSH_COMMAND"]
    }
}

extension Invocation {
    /// True when the options say who logs in.
    var givesLogin: Bool {
        value(QueueOptions.user) != nil || value(QueueOptions.passwordCommand) != nil
            || value(QueueOptions.netrc) != nil
    }
}

extension TransferSecrets {
    /// The credentials of the batch: from the options, from the URLs, or from the person.
    init(
        _ invocation: Invocation, urls: [TransferURL], command: String, _ surroundings: Surroundings,
        defaults: TransferSecrets = TransferSecrets(), isKept: Bool = false
    ) throws(CommandFailure) {
        // A login that is given stands for all of the destination's.
        let isGiven = invocation.givesLogin
        self = isGiven ? TransferSecrets() : defaults
        headers = invocation.values(QueueOptions.header)
        if let owned = ownedField { throw .usage("\(command): --header: \(owned.what)", owned.remedy) }
        formFields = invocation.values(QueueOptions.field)
        passwordCommand = invocation.value(QueueOptions.passwordCommand) ?? passwordCommand
        if let file = invocation.value(QueueOptions.netrc) {
            netrcFile = SourcePath.absolute(file, from: surroundings.currentDirectory)
        }
        user = invocation.value(QueueOptions.user) ?? user
        if let user, user.contains(":") {
            throw .usage(
                "\(command): --user takes a name alone",
                "leave out the password: it is asked for, and ps cannot show it")
        }
        try take(urls, command: command)
        // The person's own ssh logs in: by keys, an agent, or what a password command prints.
        if urls.allSatisfy({ $0.scheme.facts.login.isByOwnProgram }) || (isKept && !isGiven) { return }
        try askPassword(command, at: urls.first, surroundings)
    }

    /// The credentials of a batch from now on. What is not given is not there.
    /// - Parameters:
    ///   - server: for the question after a password; `nil`: it is not known.
    ///   - profile: the AWS profile that its keys are of, where one was named for its server.
    init(
        renewing invocation: Invocation, at server: TransferURL?, profile: String?, _ surroundings: Surroundings
    ) throws(CommandFailure) {
        try self.init(invocation, urls: [], command: "set", surroundings)
        try askPassword("set", at: server, surroundings)
        // Who logs in by ssh may need none.
        if password == "" { password = nil }
        guard invocation.has(SetCommand.s3Keys) else { return }
        do throws(QueueingFault) {
            try S3Surroundings(surroundings.environment).renew(&self, profile: profile)
        } catch {
            throw CommandFailure(error, command: "set")
        }
    }

    /// Asks for the password of a user for whom nothing else tells it.
    /// - Parameter url: the first of those for which it is; `nil`: it is not known, and the user was named for it just now.
    private mutating func askPassword(
        _ command: String, at url: TransferURL?, _ surroundings: Surroundings
    ) throws(CommandFailure) {
        guard case .typed(let user?, password: nil) = source else { return }
        let question = url.map { LoginQuestion(user: user, at: $0).prompt() }
        guard let typed = try surroundings.askPassword(question ?? "Password of \(user): ") else {
            throw .usage(
                "\(command): --user: there is no terminal to ask for the password",
                "give --password-command or --netrc")
        }
        password = typed
    }

    /// A batch has one user: URLs that name different ones are different batches.
    private mutating func take(_ urls: [TransferURL], command: String) throws(CommandFailure) {
        do throws(QueueingFault) { try TransferURL.requireOneLogin(urls, isGiven: hasLogin) } catch {
            throw CommandFailure(error, command: command)
        }
        if user == nil, let first = urls.first(where: { $0.user != nil }) {
            (user, password) = (first.user, first.password)
        }
    }
}
