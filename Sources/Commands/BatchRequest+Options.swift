import CommandLine
import Configuration
import MartletKit

extension BatchRequest {
    /// What `upload` and `download` have in common.
    init(_ work: Work, _ invocation: Invocation, _ surroundings: Surroundings) {
        self.init(work: work)
        session = invocation.value(QueueOptions.session) ?? .default
        name = invocation.value(QueueOptions.name)
        held = invocation.has(QueueOptions.hold)
        priority = invocation.value(QueueOptions.priority) ?? .normal
        options = TransferOptions(invocation, surroundings)
    }
}

extension TransferOptions {
    fileprivate init(_ invocation: Invocation, _ surroundings: Surroundings) {
        self.init()
        ifExists = invocation.value(QueueOptions.ifExists) ?? ifExists
        ifChanged = invocation.value(QueueOptions.ifChanged) ?? ifChanged
        verify = invocation.value(QueueOptions.verify)
        sha256 = invocation.value(QueueOptions.sha256)
        bytesPerSecond = invocation.value(QueueOptions.limit)?.bytesPerSecond
        notBefore = invocation.value(QueueOptions.notBefore).map {
            Timestamp(milliseconds: $0.milliseconds(now: surroundings.now(), calendar: surroundings.calendar))
        }
        giveUpAfterSeconds = invocation.value(QueueOptions.giveUpAfter)?.seconds ?? giveUpAfterSeconds
        requestTimeoutSeconds = invocation.value(QueueOptions.requestTimeout)?.seconds ?? requestTimeoutSeconds
        include = invocation.values(QueueOptions.include)
        exclude = invocation.values(QueueOptions.exclude)
        followLinks = invocation.has(QueueOptions.followLinks)
        caFile = invocation.value(QueueOptions.certificates).map {
            SourcePath.absolute($0, from: surroundings.currentDirectory)
        }
        pin = invocation.value(QueueOptions.pin)
        insecure = invocation.has(QueueOptions.insecure)
        umask = surroundings.umask
        proxies = Self.proxies(of: surroundings.environment)
        uploadBy = invocation.value(QueueOptions.wireProtocol)
        if invocation.value(QueueOptions.method) == .post { uploadBy = .post }
        if invocation.value(QueueOptions.method) == .put { uploadBy = .put }
        let fields = invocation.values(QueueOptions.field)
        if let name = invocation.value(QueueOptions.form) ?? (uploadBy == .form || !fields.isEmpty ? "file" : nil) {
            uploadBy = .form
            form = UploadForm(fileField: name)
        }
        chunkBytes = invocation.value(QueueOptions.chunk)?.bytes
        sshCommand = invocation.value(QueueOptions.sshCommand) ?? surroundings.environment["MARTLET_SSH_COMMAND"]
    }
}

extension TransferSecrets {
    /// What lets the batch in: from the options, from the URLs, or from the person.
    init(
        _ invocation: Invocation, urls: [TransferURL], command: String, _ surroundings: Surroundings
    ) throws(CommandFailure) {
        self.init()
        headers = invocation.values(QueueOptions.header)
        formFields = invocation.values(QueueOptions.field)
        passwordCommand = invocation.value(QueueOptions.passwordCommand)
        netrcFile = invocation.value(QueueOptions.netrc).map {
            SourcePath.absolute($0, from: surroundings.currentDirectory)
        }
        user = invocation.value(QueueOptions.user)
        if let user, user.contains(":") {
            throw .usage(
                "\(command): --user takes a name alone",
                "leave out the password: it is asked for, and ps cannot show it")
        }
        try take(urls, command: command)
        // The person's own ssh logs in: by keys, an agent, or what a password command prints.
        let isBySSH = urls.allSatisfy { $0.scheme == .sftp }
        if user != nil, password == nil, passwordCommand == nil, netrcFile == nil, !isBySSH {
            guard let typed = surroundings.askPassword("Password of \(user ?? ""): ") else {
                throw .usage(
                    "\(command): --user: there is no terminal to ask for the password",
                    "give --password-command or --netrc")
            }
            password = typed
        }
    }

    /// A batch has one user: URLs that name different ones are different batches.
    private mutating func take(_ urls: [TransferURL], command: String) throws(CommandFailure) {
        let named = urls.filter { $0.user != nil }
        guard let first = named.first else { return }
        guard
            named.allSatisfy({
                $0.user == first.user && $0.password == first.password && $0.authority == first.authority
            })
        else {
            throw .usage("\(command): the URLs name different users or hosts", "queue one batch for each")
        }
        guard named.count == urls.count || urls.allSatisfy({ $0.authority == first.authority }) else {
            throw .usage("\(command): only some of the URLs name a user", "queue one batch for each host")
        }
        if user == nil { (user, password) = (first.user, first.password) }
    }
}
