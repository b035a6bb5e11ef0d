import CommandLine
import Configuration
import MartletKit

/// The queue options of `upload` and `download`.
enum QueueOptions {
    // What and when
    static let session = Option(
        "session", ValueSyntax<SessionName>.session, "the session that owns the batch; default: default")
    static let name = Option(
        "name", ValueSyntax<BatchName>.batchName, "call the batch so; default: made from the sources")
    static let hold = Option.flag("hold", "queue it, but start nothing until resume")
    static let priority = Option(
        "priority", ValueSyntax<TransferPriority>.choice().named("P"), "\(words(TransferPriority.self)); default normal"
    )
    static let first = Option.flag("first", "before all other batches of its priority")
    static let notBefore = Option("not-before", ValueSyntax<WrittenTime>.time, "start nothing before this time")
    static let giveUpAfter = Option(
        "give-up-after", ValueSyntax<TimeSpan>.duration, "fail a file that made no progress for so long; default 14d")
    static let after = Option(
        "after", ValueSyntax<BatchID>.batch, availability: .notBuilt("start it when the other is done"),
        "start when this batch is over")
    static let discretionary = Option.flag(
        "discretionary", availability: .notBuilt("leave it out"), "the engine chooses a good time")
    static let noMetered = Option.flag(
        "no-metered", availability: .notBuilt("pause it by hand on such a line"), "not over a metered line")
    static let noBattery = Option.flag("no-battery", availability: .notBuilt("pause it by hand"), "not on battery")
    static let onFinished = Option(
        "on-finished", ValueSyntax<String>.text("CMD", .commands),
        availability: .notBuilt("use --wait and run the command after it"),
        "run this once when the batch is over")
    static let onAttention = Option(
        "on-attention", ValueSyntax<String>.text("CMD", .commands),
        availability: .notBuilt("use --wait: its status 4 says that a person is needed"),
        "run this once when the batch needs a person")
    static let key = Option(
        "key", ValueSyntax<String>.text("TEXT"), availability: .notBuilt("name the batch with --name"),
        "a word of your own to find the batch by")
    static let metadata = Option(
        "metadata", ValueSyntax<String>.text("JSON"), availability: .notBuilt("keep it beside the batch's ID"),
        "facts of your own, kept with the batch")
    static let answerField = Option(
        "answer-field", ValueSyntax<String>.text("NAME=POINTER"),
        availability: .notBuilt("take it out of martlet show --response"), "keep this part of the server's answer")
    static let mirror = Option(
        "mirror", ValueSyntax<String>.text("URL"), availability: .notBuilt("queue the other URL when the first fails"),
        "another place that has the same file")

    // Files
    static let include = Option(
        "include", ValueSyntax<String>.glob, repeats: true,
        "only files that match one of these, such as 'raw/**'")
    static let exclude = Option(
        "exclude", ValueSyntax<String>.glob, repeats: true, "no files that match one of these; wins over --include")
    static let followLinks = Option.flag("follow-links", "send what symbolic links point to")
    static let snapshot = Option.flag(
        "snapshot", availability: .notBuilt("copy what must not change, and queue the copy"),
        "send what is on disk now, even if edited later")
    static let ifExists = Option(
        "if-exists", ValueSyntax<ExistingFilePolicy>.choice(shown: ExistingFilePolicy.built).named("WHAT"),
        "\(alternatives(ExistingFilePolicy.built.map(\.rawValue))); default fail")
    static let ifChanged = Option(
        "if-changed", ValueSyntax<ChangedSourcePolicy>.choice(),
        "when a source changed after it was queued; default restart")
    static let verify = Option(
        "verify", ValueSyntax<VerificationWish>.choice(),
        "size and digest ask for each file; default: by what the server tells of itself")
    static let sha256 = Option("sha256", ValueSyntax<String>.sha256, "the file must have this digest")
    static let segments = Option(
        "segments", ValueSyntax<Int>.count(1...32),
        availability: .notBuilt("leave it out; one connection fetches the file"), "fetch a large file in so many ranges"
    )
    static let coalesce = Option.flag(
        "coalesce", availability: .notBuilt("leave it out"), "one transfer for URLs asked for twice")
    static let keep = Option.flag(
        "keep", availability: .notBuilt("name a directory to download into"), "keep the result in the store until fetch"
    )
    static let chunk = Option(
        "chunk", ValueSyntax<ByteSize>.size(),
        "bytes of one part or request, for S3, Nextcloud, tus and IETF; default by the protocol's own rule")

    // How
    static let uploadBy = Option(
        "protocol", ValueSyntax<HTTPUploadProtocol>.choice().named("P"),
        "\(words(HTTPUploadProtocol.self)) over http(s), without asking the host")
    static let method = Option(
        "method", ValueSyntax<UploadMethod>.choice(), "PUT or POST the file's bytes, without asking the host")
    static let form = Option(
        "form", ValueSyntax<String>.text("FIELD"), "POST a form with the file in this field")
    static let field = Option(
        "field", ValueSyntax<HeaderField>.formField.secret, repeats: true,
        "another text field of the form; K=@@TEXT sends @TEXT")
    static let header = Option(
        "header", ValueSyntax<HeaderField>.header.secret, repeats: true,
        "send this header field to the server; kept secret")
    static let headerCommand = Option(
        "header-command", ValueSyntax<String>.text("CMD", .commands),
        availability: .notBuilt("give the field with --header"), "take header fields from this command")
    static let limit = Option("limit", ValueSyntax<RateLimit>.rate, "bytes a second for the whole batch")
    static let requestTimeout = Option(
        "request-timeout", ValueSyntax<TimeSpan>.duration.named("D"),
        "break off a request in which nothing moves for so long; default 60s")

    // Credentials and trust
    static let user = Option(
        "user", ValueSyntax<String>.text("U"),
        "log in as this user; the password is asked for unless a command or netrc gives it")
    static let passwordCommand = Option(
        "password-command", ValueSyntax<String>.passwordCommand,
        "the first line that this command prints is the password; it is run in /")
    static let netrc = Option(
        "netrc", ValueSyntax<[UInt8]>.path("FILE", .files),
        "take user and password from this file (at most 1 MiB); an upload waits while it has no login for the server")
    static let certificates = Option(
        "ca", ValueSyntax<[UInt8]>.path("FILE", .files), "trust these authorities (PEM) instead of the system's")
    static let pin = Option("pin", ValueSyntax<String>.pin, "the server's public key must have this digest")
    static let insecure = Option.flag("insecure", "do not check the server's certificate")
    static let sshCommand = Option(
        "ssh-command", ValueSyntax<String>.text("CMD", .commands),
        "the ssh to run for sftp://, as rsync's -e; also MARTLET_SSH_COMMAND")

    static let wait = Option.flag("wait", "wait until all is over, and show progress on standard error")

    /// Options of the contract that the other direction has: refused with the reason instead of as unknown.
    private static func elsewhere(_ names: [String], _ owner: String) -> OptionGroup {
        OptionGroup(
            "Elsewhere",
            names.map { Option($0, ValueSyntax<String>.text("VALUE"), availability: .elsewhere(owner), owner) })
    }
    private static func flagsElsewhere(_ names: [String], _ owner: String) -> OptionGroup {
        OptionGroup("Elsewhere", names.map { Option.flag($0, availability: .elsewhere(owner), owner) })
    }

    /// Options that few lines need, after those that most need.
    private static let when = OptionGroup(
        "When and in what order",
        [
            priority, first, notBefore, giveUpAfter, session, after, discretionary, noMetered, noBattery, onFinished,
            onAttention, key, metadata, answerField,
        ])
    private static let trust = OptionGroup(
        "Signing in and trust",
        [
            user, passwordCommand, netrc, header, headerCommand, sshCommand, certificates, pin, insecure,
        ])

    /// Everything of `upload`, what is used most first.
    static let upload = [
        OptionGroup("Most used", [wait, ifExists, exclude, include, limit, name, hold, CommonOptions.json]),
        when,
        trust,
        OptionGroup("Which files, and how they are checked", [followLinks, snapshot, ifChanged, verify]),
        OptionGroup("How it is sent", [uploadBy, chunk, requestTimeout, method, form, field]),
        elsewhere(["sha256", "segments", "mirror"], "for downloads"),
        flagsElsewhere(["coalesce", "keep"], "for downloads"),
    ]

    /// Everything of `download`, what is used most first.
    static let download = [
        OptionGroup("Most used", [wait, ifExists, sha256, limit, name, hold, CommonOptions.json]),
        when,
        trust,
        OptionGroup(
            "How it is fetched and checked", [verify, ifChanged, requestTimeout, segments, mirror, coalesce, keep]),
        elsewhere(["include", "exclude", "protocol", "method", "form", "field", "chunk"], "for uploads"),
        flagsElsewhere(["follow-links", "snapshot"], "for uploads"),
    ]

    enum UploadMethod: String, CaseIterable, Sendable {
        case put = "PUT"
        case post = "POST"
    }

    private static func words<Word: RawRepresentable & CaseIterable>(_: Word.Type) -> String
    where Word.RawValue == String {
        alternatives(Word.allCases.map(\.rawValue))
    }

    /// Some of the contract's ways with a file that is there already are not built; taken for granted they would overwrite it.
    static func refuseUnbuilt(_ policy: ExistingFilePolicy?, _ invocation: Invocation) throws(CommandFailure) {
        guard let policy, !ExistingFilePolicy.built.contains(policy) else { return }
        throw .usage(
            "\(invocation.path.joined(separator: " ")): --if-exists \(policy.rawValue) is not built yet",
            "use \(alternatives(ExistingFilePolicy.built.map(\.rawValue)))")
    }
}
