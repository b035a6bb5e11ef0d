import CommandLine
import Configuration
import MartletKit

/// Options of `destination add` beside those of `upload`, and the command itself.
enum DestinationOptions {
    static let replace = Option.flag("replace", "take the place of a destination of that name")
    static let profile = Option(
        "profile", ValueSyntax<String>.text("P"), "take the keys of S3 from this profile of ~/.aws/credentials")
    static let endpoint = Option("endpoint", ValueSyntax<String>.url("URL"), "where the S3 service is; default: AWS")
    static let region = Option("region", ValueSyntax<String>.text("R"), "the region of S3")
}

extension MartletProgram {
    static var destination: Command {
        var list = Command("list", "configured servers")
        list.groups = [CommonOptions.output]
        var add = Command("add", "configure a server, to be used as NAME:PATH")
        add.details = [
            "A password is asked for when the URL or --user names a user and nothing says where the password comes from; the engine "
                + "keeps it in its store of secrets. destinations.conf never has one.",
            "The keys of S3 are taken from the environment or AWS's files when a batch is queued. With --user ID the secret key is "
                + "asked for and kept; where no keys are found, both are asked for.",
            "--limit is one limit for all batches that go there together; a batch that is given its own (--limit, set) has it for itself.",
        ]
        add.operands = [Operand(ValueSyntax<String>.text("NAME")), Operand(ValueSyntax<String>.url("URL"))]
        add.groups = [
            OptionGroup(
                "Credentials and trust",
                [
                    QueueOptions.user, QueueOptions.passwordCommand, QueueOptions.netrc, DestinationOptions.profile,
                    QueueOptions.certificates, QueueOptions.pin, QueueOptions.insecure, QueueOptions.sshCommand,
                ]),
            OptionGroup(
                "Defaults for what is sent there",
                [
                    QueueOptions.ifExists, QueueOptions.verify, QueueOptions.limit, QueueOptions.wireProtocol,
                    QueueOptions.chunk, DestinationOptions.endpoint, DestinationOptions.region,
                ]),
            OptionGroup("Options", [DestinationOptions.replace, CommonOptions.json]),
        ]
        add.examples = [
            .init(
                line: "martlet destination add nas sftp://ana@nas.local/backup/", effect: "Use nas:photos/ from now on")
        ]
        var test = Command("test", "ask a server whether it can be used; writes nothing there")
        test.details = [
            "Says in one sentence what works, or why not and what to do. The status is 1 if it cannot be used."
        ]
        test.operands = [Operand(ValueSyntax<String>.text("NAME"))]
        test.groups = [CommonOptions.output]
        var remove = Command("remove", "forget a server and its login; what is queued goes on")
        remove.details = ["For 24 h martlet destination restore takes that back."]
        remove.operands = [Operand(ValueSyntax<String>.text("NAME"), .oneOrMore)]
        remove.groups = [CommonOptions.output]
        var restore = Command("restore", "take the removal of a server back, within 24 h; without a name the last one")
        restore.operands = [Operand(ValueSyntax<String>.text("NAME"), .optional)]
        restore.groups = [CommonOptions.output]
        var command = Command("destination", "configured servers")
        command.runsAlone = false
        command.subcommands = [
            list, add, test, remove, restore,
            notBuilt("import", "take over servers of rclone, ssh, aws or netrc", "use destination add for each"),
        ]
        return command
    }
}
