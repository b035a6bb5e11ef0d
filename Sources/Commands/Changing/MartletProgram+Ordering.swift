import CommandLine
import Configuration
import MartletKit

/// The commands that say what goes first and how fast.
extension MartletProgram {
    static let top = Option.flag("top", "the first in the queue; files and folders: in their batch")
    static let bottom = Option.flag("bottom", "the last")
    static let before = Option("before", ValueSyntax<NodeID>.node, "just before this one")

    static var move: Command {
        var command = Command("move", "change the order of the queue, or of a batch")
        command.details = [
            "Batches move among those of their priority; files and folders within their batch. Several keep the order in which "
                + "they are named. What runs already goes on."
        ]
        command.operands = [Operand(.node, .oneOrMore)]
        command.groups = [OptionGroup("Where to", [top, bottom, before]), CommonOptions.output]
        command.examples = [
            .init(line: "martlet move b9 --top", effect: "Have the newest batch go first"),
            .init(line: "martlet move t31 t40 --before t7", effect: "Two files before a third"),
        ]
        return command
    }

    static let newPriority = Option(
        "priority", ValueSyntax<TransferPriority>.choice().named("P"),
        alternatives(TransferPriority.allCases.map(\.rawValue)))
    static let newLimit = Option(
        "limit", ValueSyntax<RateLimit>.rate, "bytes a second for all of it together; off takes the limit away")
    static let newTime = Option(
        "not-before", ValueSyntax<WrittenTime>.time,
        "start nothing before this time, and stop what runs until then; of a batch or file")
    static let newPatience = Option(
        "give-up-after", ValueSyntax<TimeSpan>.duration, "fail a file that made no progress for so long; of a batch")
    static let newPolicy = Option(
        "if-exists", ValueSyntax<ExistingFilePolicy>.choice(shown: ExistingFilePolicy.built).named("WHAT"),
        alternatives(ExistingFilePolicy.built.map(\.rawValue)) + "; of a batch")
    static let s3Keys = Option.flag(
        "s3-keys", "take keys for S3 anew, from AWS_* or the AWS profile as they are now")
    static let newName = Option("name", ValueSyntax<String>.text("TEXT"), "call the batch so")

    static var set: Command {
        var command = Command("set", "change what is queued or running")
        command.details = [
            "Holds at once, for what runs, too. The smallest limit on a file's way wins: its own, its folders', its batch's, its "
                + "session's, its host's, the engine's. A file or folder with a priority of its own stands in line with it "
                + "among everything.",
            "--if-exists holds for what of the batch is tried from now on: after it, martlet retry does with what was there already as "
                + "it says.",
            "A batch that is not let in any more (its token, password or keys have expired) is given new ones by --header, --user, "
                + "--password-command, --netrc, --field or --s3-keys: what waits for them goes on at once, at the byte where it "
                + "stood. What is not given stays as it was. This cannot be taken back.",
            "--ca and --pin say which server is trusted from now on: after them, martlet retry tries again what failed for its "
                + "certificate.",
        ]
        command.operands = [Operand(.node, .any)]
        command.operandForm = "ID...|SELECTORS"
        command.groups = [
            OptionGroup("What", [newPriority, newLimit, newTime, newPatience, newPolicy, newName]),
            OptionGroup(
                "Credentials",
                [
                    QueueOptions.header, QueueOptions.field, QueueOptions.user, QueueOptions.passwordCommand,
                    QueueOptions.netrc, s3Keys,
                ]),
            OptionGroup("Trust, of a batch", [QueueOptions.certificates, QueueOptions.pin]), CommonOptions.selectors,
            CommonOptions.output,
        ]
        command.examples = [
            .init(line: "martlet set b7 --limit 2M --priority low", effect: "Let a batch take its time"),
            .init(line: "martlet set b7 --limit off", effect: "And no longer"),
            .init(
                line: "martlet set b7 --if-exists replace && martlet retry b7",
                effect: "Overwrite what was found at the destination"),
            .init(
                line: "martlet set b7 --header 'Authorization: Bearer NEW'",
                effect: "Let a batch go on whose token has expired"),
        ]
        return command
    }

    static var runNow: Command {
        var command = Command("run-now", "start it now, once, whatever its time, its turn or the transfers at once")
        command.details = [
            "What waits for its time, for another try or for a slot starts at once, before and beside what runs. What you paused "
                + "stays paused: resume it."
        ]
        command.operands = [Operand(.node, .any)]
        command.operandForm = "ID...|SELECTORS"
        command.groups = [CommonOptions.selectors, CommonOptions.output]
        return command
    }

    static let up = Option.flag("up", "only what is sent")
    static let down = Option.flag("down", "only what is received")
    static let transfersAtOnce = Option(
        "transfers", ValueSyntax<Int>.count(1...256), "files moved at the same time")
    static let transfersPerHost = Option(
        "per-host", ValueSyntax<Int>.count(1...256), "of these, at most so many to or from one host")
    static let host = Option(
        "host", ValueSyntax<String>.text("HOST"), "instead, limit everything to and from this host (nas.example[:443])")

    static var limit: Command {
        var command = Command("limit", "show or change the limits of the whole engine")
        command.details = [
            "RATE is bytes a second (512K, 8M) or off; a TIMETABLE is rclone's: 08:00,512K 18:00,off is slow by day and free by "
                + "night, Mon-08:00,512K Sat-00:00,off leaves the weekend free. Limits hold at once, for what runs, too, and are "
                + "kept when the engine ends. Without RATE it only shows what holds."
        ]
        command.operands = [Operand(ValueSyntax<String>.text("RATE|TIMETABLE"), .any)]
        command.operandForm = "[RATE|TIMETABLE]"
        command.groups = [
            OptionGroup("Which", [up, down, transfersAtOnce, transfersPerHost, host]), CommonOptions.output,
        ]
        command.examples = [
            .init(line: "martlet limit 2M --up", effect: "Send at most two megabytes a second"),
            .init(line: "martlet limit '08:00,512K 18:00,off'", effect: "Slow by day, free by night"),
            .init(line: "martlet limit --transfers 2", effect: "Two files at a time"),
        ]
        return command
    }

    static var sessionShow: Command {
        var command = Command("show", "what a session holds, and its limit")
        command.operands = [Operand(ValueSyntax<SessionName>.session)]
        command.groups = [CommonOptions.output]
        return command
    }

    static var sessionRemove: Command {
        var command = Command("remove", "forget a session whose work is over, with its limit; never a file")
        command.details = [
            "Prints one line for each batch that is forgotten. While one is not over nothing is forgotten."
        ]
        command.operands = [Operand(ValueSyntax<SessionName>.session)]
        command.groups = [CommonOptions.output]
        return command
    }

    static var sessionSet: Command {
        var command = Command("set", "limit all that a session owns together")
        command.operands = [Operand(ValueSyntax<SessionName>.session)]
        command.groups = [OptionGroup("What", [newLimit]), CommonOptions.output]
        return command
    }
}
