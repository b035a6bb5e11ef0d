import CommandLine
import Configuration
import MartletKit

/// `martlet set`.
struct SetCommand: EngineCommand {
    let context: CommandContext

    static let priority = Option(
        "priority", ValueSyntax<TransferPriority>.choice().named("P"),
        alternatives(TransferPriority.allCases.map(\.rawValue)))
    static let limit = Option(
        "limit", ValueSyntax<RateLimit>.rate, "bytes a second for all of it together; off takes the limit away")
    static let notBefore = Option(
        "not-before", ValueSyntax<WrittenTime>.time,
        "start nothing before this time, and stop what runs until then; of a batch or file")
    static let giveUpAfter = Option(
        "give-up-after", ValueSyntax<TimeSpan>.duration, "fail a file that made no progress for so long; of a batch")
    static let ifExists = Option(
        "if-exists", ValueSyntax<ExistingFilePolicy>.choice(shown: ExistingFilePolicy.built).named("WHAT"),
        alternatives(ExistingFilePolicy.built.map(\.rawValue)) + "; of a batch")
    static let s3Keys = Option.flag(
        "s3-keys",
        "take keys for S3 anew, from where they came: the server's AWS profile, else AWS_* or the AWS profile of now")
    static let name = Option("name", ValueSyntax<BatchName>.batchName, "call the batch so")

    static let command = Command(
        "set", "change what is queued or running",
        details: [
            "Holds at once, for what runs, too. The smallest limit on a file's way wins: its own, its folders', its batch's, its "
                + "session's, its host's, the engine's. A file or folder with a priority of its own stands in line with it "
                + "among everything.",
            "--if-exists holds for what of the batch is tried from now on: after it, martlet retry does with what was there already as "
                + "it says. Uploads under way that were to replace what is there, and may not any more, are tried anew at once.",
            "A batch that is not let in any more (its token, password or keys have expired) is given new ones by --header, --user, "
                + "--password-command, --netrc, --field or --s3-keys: what waits for them goes on at once, at the byte where it "
                + "stood. What is not given stays as it was. This cannot be taken back. A login goes to one server: a batch whose files come "
                + "from several gets none, and neither do batches of several servers together. A selector leaves out batches that are over.",
            "--ca and --pin say which server is trusted from now on: after them, martlet retry tries again what failed for its "
                + "certificate.",
        ],
        operands: [Operand(.node, .any)],
        operandForm: "ID...|SELECTORS",
        groups: [
            OptionGroup("What", [priority, limit, notBefore, giveUpAfter, ifExists, name]),
            OptionGroup(
                "Credentials",
                [
                    QueueOptions.header, QueueOptions.field, QueueOptions.user, QueueOptions.passwordCommand,
                    QueueOptions.netrc, s3Keys,
                ]),
            OptionGroup("Trust, of a batch", [QueueOptions.certificates, QueueOptions.pin]), CommonOptions.selectors,
            CommonOptions.output,
        ],
        examples: [
            .init(line: "martlet set b7 --limit 2M --priority low", effect: "Let a batch take its time"),
            .init(line: "martlet set b7 --limit off", effect: "And no longer"),
            .init(
                line: "martlet set b7 --if-exists replace && martlet retry b7",
                effect: "Overwrite what was found at the destination"),
            .init(
                line: "martlet set b7 --header 'Authorization: Bearer NEW'",
                effect: "Let a batch go on whose token has expired"),
        ])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        var settings = NodeSettings()
        settings.priority = invocation.value(Self.priority)
        settings.limit = invocation.value(Self.limit).map { $0.bytesPerSecond ?? 0 }
        settings.notBefore = context.time(of: Self.notBefore, invocation)
        settings.giveUpAfterSeconds = invocation.value(Self.giveUpAfter)?.seconds
        settings.ifExists = invocation.value(Self.ifExists)
        settings.name = invocation.value(Self.name)
        settings.caFile = invocation.value(QueueOptions.certificates).map {
            SourcePath.absolute($0, from: surroundings.currentDirectory)
        }
        settings.pin = invocation.value(QueueOptions.pin)
        try QueueOptions.refuseUnbuilt(settings.ifExists, invocation)
        if invocation.has(Self.s3Keys), invocation.givesLogin {
            throw .usage(
                "set: --s3-keys beside another login", "give either --s3-keys, or --user with what tells its password")
        }
        let nodes = try Selection.required(invocation, command: "set")
        let batch = try await batch(of: nodes, invocation)
        let server = batch.flatMap { $0.direction == .upload ? try? TransferURL($0.destination, place: "DEST") : nil }
        let secrets = try TransferSecrets(
            renewing: invocation, at: server, profile: batch?.keysProfile, surroundings)
        if settings.isEmpty, secrets.isEmpty {
            throw .usage(
                "set: nothing is to be changed", "give --priority, --limit, --not-before, --header or another option")
        }
        return try await context.change(
            nodes, .set(settings, secrets: secrets.isEmpty ? nil : secrets),
            ResultWords(done: "changed", already: "was so already"), invocation)
    }

    /// The batch whose server a password is asked for, or whose keys are taken anew: batches of several servers or profiles get neither.
    /// `nil`: nothing of it matters, or it is not known.
    private func batch(of nodes: NodeChoice, _ invocation: Invocation) async throws(CommandFailure) -> BatchSnapshot? {
        let isAsked =
            invocation.value(QueueOptions.user) != nil && invocation.value(QueueOptions.passwordCommand) == nil
            && invocation.value(QueueOptions.netrc) == nil
        let wantsKeys = invocation.has(Self.s3Keys)
        // One that does not exist among several is told with the others.
        guard isAsked || wantsKeys, case .ids(let ids) = nodes, case .batch(let id)? = ids.first
        else { return nil }
        do throws(CommandFailure) {
            return try await ask { engine throws(RequestError) in
                wantsKeys ? try await engine.batchWithKeys(id) : try await engine.batch(id)
            }
        } catch {
            if ids.count == 1 { throw error }
            return nil
        }
    }
}
