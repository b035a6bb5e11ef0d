// Commands: what `martlet` does when it is given words, and how what it finds is printed.
//
// For whom: `martlet`'s main alone. Which thread: the program's own task; the engine is reached through MartletKit and nothing else.
// Start reading here (the table), then `Martlet` (words into a run), `Front` (one run: surroundings, console, connection) and its
// extensions, one for each family of commands. `Console` is the only place that prints.

package import CommandLine
package import Configuration
import MartletKit

/// The commands of `martlet`: the one table behind parsing, help, manual and completions.
package enum MartletProgram {
    package static let version = Option.flag("version", "print the version and exit")
    package static let color = Option(
        "color", ValueSyntax<ScreenConfiguration.ColorChoice>.choice(), "colours of the screen; auto obeys NO_COLOR")
    package static let glyphs = Option(
        "glyphs", ValueSyntax<ScreenConfiguration.Glyphs>.choice().named("SET"),
        "auto, unicode, narrow or ascii: characters for states and bars")
    package static let units = Option(
        "units", ValueSyntax<ScreenConfiguration.Units>.choice(), "show KiB (1024) or kB (1000)")
    package static let theme = Option(
        "theme", ValueSyntax<ScreenConfiguration.Theme>.choice(), "palette for a dark or light background")
    package static let mouse = Option("mouse", ValueSyntax<Bool>.onOff, "let the terminal send clicks")
    package static let accessible = Option.flag(
        "accessible", "plain lines and numbered choices instead of a screen, for screen readers; also by ACCESSIBLE=1")
    package static let bell = Option("bell", ValueSyntax<Bool>.onOff, "ring when a batch ends")
    package static let columns = Option(
        "columns", ScreenConfiguration.ColumnList.syntax, "columns of the list beside the names")
    package static let notify = Option(
        "notify", ValueSyntax<ScreenConfiguration.Notification>.choice(), "a notification on the desktop then")
    package static let title = Option("title", ValueSyntax<Bool>.onOff, "the window's title says how far it is")
    package static let copy = Option(
        "copy", ValueSyntax<Bool>.onOff, "y and Y copy through the terminal; off writes a file")
    package static let clock = Option("clock", ValueSyntax<Bool>.onOff, "the time in the first line")
    package static let noAlternate = Option.flag(
        "no-alt", "draw on the terminal's own page and leave the last picture behind")

    static let screenOptions: [any AnyOption] = [
        color, glyphs, units, theme, columns, mouse, bell, notify, title, copy, clock, noAlternate,
    ]

    package static let program: Program = {
        var root = Command("martlet", "transfers that go on, whatever happens to the terminal")
        root.details = [
            "Without a command it shows the screen, with whatever is going on. Work belongs to an engine (martletd), which is "
                + "started when it is needed: leaving the screen, closing the terminal or killing the front stops nothing.",
            "IDs: b7 is a batch, t31 a task, b7:raw/2024 a folder of a batch. Sizes and rates are binary (512K 8M 2G), "
                + "durations 30s 5m 2h 7d, times ISO 8601, HH:MM or +DURATION.",
        ]
        root.groups = [
            OptionGroup("Options of the screen", screenOptions + [accessible]),
            OptionGroup("Options", [version]),
        ]
        root.subcommands = working + [.help(about: working)] + later + [documents, relay]
        var program = Program(root)
        program.sections = Manual.sections
        program.unbuiltWords =
            ExistingFilePolicy.allCases.filter { !ExistingFilePolicy.built.contains($0) }
            .map { "--if-exists \($0.rawValue)" } + ["- as SOURCE (standard input)"]
        program.seeAlso = ["martletd", "martlet-receive"]
        return program
    }()

    /// Generated files to the standard output, for `make docs`.
    private static var documents: Command {
        var command = Command("docs", "print a generated file of Resources, or their names")
        command.operands = [Operand(ValueSyntax<String>.text("PATH"), .optional)]
        command.isHidden = true
        return command
    }

    private static var working: [Command] {
        [
            upload, download, again, list, show, why,
            pause,
            change("resume", "let paused or held work go on"),
            change(
                "cancel", "stop work for good; undo takes it back within its grace time",
                "What servers have of unfinished uploads is removed when the grace time is over (10 s unless set). Until then undo, and "
                    + "retry, too, let it go on where it stood; afterwards a retry begins anew."),
            change(
                "retry", "try failed or cancelled work again",
                "What failed goes on where it stood, if the server can. What was cancelled does so within the grace time of the cancel "
                    + "(10 s unless set) and begins anew afterwards: what its server had is removed by then."),
            verify, undo, move, set, runNow, limit, wait, watch, events, purge, log, leftovers, engine, receive,
            session,
            destination, attach,
        ]
    }

    private static var upload: Command {
        var command = Command("upload", "queue a batch of uploads; prints its id and returns at once")
        command.details = [
            "DEST is NAME:path of a configured destination, https://host/path or http://host/path (the host is asked once whether it speaks resumable upload or tus, else "
                + "it gets a PUT), tus+https://, ietf+https://, s3://bucket/prefix (keys from AWS_ACCESS_KEY_ID and "
                + "AWS_SECRET_ACCESS_KEY or AWS_PROFILE; AWS_ENDPOINT_URL for a service of one's own), "
                + "sftp://[user@]host[:port]/path (by your own ssh; /~/ is the home folder), ftp://, ftps://, ftpes://, dav:// or "
                + "davs://. Missing folders are made there.",
            "A DEST that ends in / is a directory: each SOURCE arrives under its own "
                + "base name, a directory with everything below it (DIR/. means its contents alone). Without the slash a single "
                + "file arrives under exactly that name.",
            "--if-exists: fail (default) overwrites nothing, and the same file already there counts as completed; skip leaves "
                + "what is there; replace overwrites it.",
        ]
        command.operands = [
            Operand(ValueSyntax<[UInt8]>.path("SOURCE", .files), .oneOrMore), Operand(ValueSyntax<String>.url("DEST")),
        ]
        command.groups = QueueOptions.upload
        command.examples = [
            .init(line: "martlet upload ~/Pictures/2026 https://nas.example/photos/", effect: "Queue a directory"),
            .init(
                line: "martlet upload --wait report.pdf https://nas.example/inbox/q3.pdf",
                effect: "Send one file under another name and wait for it"),
        ]
        return command
    }

    private static var again: Command {
        var command = Command("again", "queue the uploads of a batch once more, to the same place or another")
        command.details = [
            "The sources are looked through anew, with the options of that batch; options given here count more. Without DEST they go where "
                + "they went. What becomes of files that are there already says --if-exists, as for upload.",
            "The login, the headers and the form's fields of that batch are used again at the same server only. For another server give them "
                + "here, as for upload. The batch itself stays as it is: 'martlet cancel' ends what is left of it.",
        ]
        command.operands = [Operand(ValueSyntax<BatchID>.batch), Operand(ValueSyntax<String>.url("DEST"), .optional)]
        command.groups = QueueOptions.upload
        command.examples = [
            .init(line: "martlet again b7", effect: "Send what has changed or come since"),
            .init(line: "martlet again b7 https://nas.example/photos/", effect: "The address was wrong"),
        ]
        return command
    }

    private static var download: Command {
        var command = Command("download", "queue a batch of downloads")
        command.details = [
            "The last operand is a directory that exists, or a path that ends in /; each file gets the name that the server or the URL "
                + "gives. With one URL it may be the file's path instead."
        ]
        command.operands = [
            Operand(ValueSyntax<String>.url("URL"), .oneOrMore),
            Operand(ValueSyntax<[UInt8]>.path("DIR|FILE", .files)),
        ]
        command.groups = QueueOptions.download
        command.examples = [
            .init(line: "martlet download https://example.org/big.iso ~/Downloads/", effect: "Fetch a file")
        ]
        return command
    }

    private static var list: Command {
        var command = Command("list", "batches; with a batch, its tasks")
        command.details = ["Where nothing was ever queued no engine is started."]
        command.examples = [
            .init(line: "martlet list --filter 'size>1G !@done'", effect: "What is large and not through")
        ]
        command.operands = [Operand(ValueSyntax<NodeID>.node, .optional)]
        command.operandForm = "[ID|SELECTORS]"
        command.groups = [CommonOptions.selectors, CommonOptions.output]
        return command
    }

    static let history = Option.flag("history", "what happened to the task so far")
    static let response = Option.flag("response", "the server's last answer")
    static let manifest = Option.flag(
        "manifest",
        "a line for each completed file: SHA-256 where it is known, bytes, time, how it was proved, ETag, where it is, and its path"
    )
    static let sha256sum = Option.flag(
        "sha256sum",
        "the same as 'sha256sum -c' reads it, with paths below the destination; files without a known SHA-256 are left out"
    )

    private static var show: Command {
        var command = Command("show", "everything about a batch or task")
        command.operands = [Operand(.node)]
        command.groups = [OptionGroup("Options", [history, response, manifest, sha256sum, CommonOptions.json])]
        return command
    }

    private static var why: Command {
        var command = Command("why", "why it does not move, and what would unblock it")
        command.operands = [Operand(.node, .optional)]
        command.groups = [CommonOptions.output]
        return command
    }

    static let readBack = Option.flag(
        "read-back", "also read every file at the server and compare its SHA-256 with what was sent")

    private static var verify: Command {
        var command = Command("verify", "is all of it there, now? lists the remote folders and compares")
        command.details = [
            "Lists each folder that files were sent to once, by SFTP, FTP (MLSD), WebDAV, Nextcloud or S3, and compares names, sizes and the "
                + "digests that the listing has; of batches that are finished, too. Prints one line for each file that is missing or "
                + "another one, and one for each ID. Such a file fails with the code notThere, and 'martlet retry' sends it again; "
                + "a file that somebody else has put there is replaced only with --if-exists replace.",
            "The status is 0 when all is there, 1 when something is not or nobody can say it, 3 when an ID is unknown. Once, after the last "
                + "file of a folder, this is done without being asked, unless --verify none was given.",
            "With --read-back every completed file is downloaded as well (from the servers named above), and its SHA-256 compared with that of what was sent: the one that "
                + "was kept, else that of the source, if it has not changed since. A file that is the same counts as verified by its digest "
                + "from then on; one that is missing or another one fails with notThere; one that cannot be read stays as it is, and the "
                + "status is 1. What --if-exists skip left in its place is not read.",
        ]
        command.operands = [Operand(ValueSyntax<NodeID>.node, .oneOrMore)]
        command.groups = [OptionGroup("How far", [readBack]), CommonOptions.output]
        command.examples = [
            .init(line: "martlet verify b7", effect: "Look whether all files are there"),
            .init(line: "martlet verify b7 --read-back", effect: "Compare every byte before the originals are deleted"),
        ]
        return command
    }

    private static func change(_ name: String, _ summary: String, _ details: String...) -> Command {
        var command = Command(name, summary)
        command.details =
            details + [
                "Prints one line for each ID. Does all that it can; the status is 1 if any was refused, 3 if any is unknown."
            ]
        command.operands = [Operand(.node, .any)]
        command.operandForm = "ID...|SELECTORS"
        command.groups = [CommonOptions.selectors, CommonOptions.output]
        return command
    }

    static let pauseEnd = Option(
        "until", ValueSyntax<WrittenTime>.time, "let it go on by itself then; said again of an ID it changes the time")

    private static var pause: Command {
        var command = change("pause", "stop work and keep its place; resume lets it go on where it stood")
        command.groups.insert(OptionGroup("When it goes on", [pauseEnd]), at: 0)
        return command
    }

    static let timeout = Option(
        "timeout", ValueSyntax<TimeSpan>.duration.named("D"), "wait at most so long; then the status is 75")
    static let patient = Option.flag("patient", "wait on when all that is left needs a person")

    private static var wait: Command {
        var command = Command("wait", "wait until all is over")
        command.details = [
            "The status is 0 if everything completed, 1 if something failed or was cancelled, 4 if all that is left needs a person "
                + "(a password, a host key, or it is paused or held). Without IDs it waits for everything."
        ]
        command.operands = [Operand(.node, .any)]
        command.operandForm = "[ID...|SELECTORS]"
        command.groups = [OptionGroup("Options", [timeout, patient, CommonOptions.json]), CommonOptions.selectors]
        return command
    }

    private static var watch: Command {
        var command = Command("watch", "one plain line a second, for logs and screen readers")
        command.details = ["Ends when everything that it watches is over."]
        command.operands = [Operand(.node, .optional)]
        command.groups = [CommonOptions.output]
        return command
    }

    static let after = Option(
        "after", ValueSyntax<Int>.count(0...Int.max).named("SEQ"), "only events after this number")
    static let follow = Option.flag("follow", "go on with what happens from now")
    static let consumer = Option(
        "consumer", ValueSyntax<String>.text("NAME"), "go on after the last event that NAME acknowledged")
    static let acknowledge = Option(
        "ack", ValueSyntax<Int>.count(0...Int.max).named("SEQ"), "NAME has dealt with everything up to this number")
    static let level = Option(
        "level", ValueSyntax<LogLevel>.choice().named("L"),
        "debug, info, user (what people did), warning or error: nothing below it; default info")

    private static var events: Command {
        var command = Command("events", "what happened, each with a number that a consumer can go on from")
        command.details = ["Never starts an engine."]
        command.groups = [OptionGroup("Options", [after, follow, consumer, acknowledge, CommonOptions.json])]
        return command
    }

    static let finished = Option.flag("finished", "every batch that is over")

    private static var purge: Command {
        var command = Command("purge", "forget batches and tasks that are over; never a file")
        command.details = [
            "Batches come back by undo within its grace time (10 s unless set). When it is over, what their failed uploads have left at "
                + "servers is removed, too, and a batch of which something cannot be removed yet is tried again; leftovers shows it. "
                + "A task by its ID is forgotten at once, when nothing of it is left anywhere."
        ]
        command.operands = [Operand(.node, .any)]
        command.operandForm = "ID...|--finished"
        command.groups = [OptionGroup("Options", [finished, CommonOptions.json])]
        return command
    }

    private static var log: Command {
        var command = Command("log", "the engine's log")
        command.operands = [Operand(.node, .optional)]
        command.groups = [OptionGroup("Options", [follow, level, CommonOptions.json])]
        return command
    }

    static let now = Option.flag("now", "do not let running files finish: note where they stand and leave within 2 s")

    private static var engine: Command {
        var status = Command("status", "whether an engine runs, and what it does; never starts one")
        status.groups = [CommonOptions.output]
        var start = Command("start", "start an engine unless one runs")
        start.groups = [CommonOptions.output]
        var stop = Command("stop", "end the engine; what cannot go on later is finished before; what is queued stays")
        stop.groups = [OptionGroup("Options", [now, CommonOptions.json])]
        var command = Command("engine", "the process that does the work")
        command.runsAlone = false
        command.subcommands = [
            status, start, stop,
            notBuilt("install", "have systemd start the engine", "martlet starts it when it is needed"),
            notBuilt("uninstall", "undo install", "nothing was installed"),
        ]
        return command
    }

    private static var leftovers: Command {
        var list = Command("list", "what unfinished uploads have left at servers")
        list.groups = [OptionGroup("Where", [LeftoverOptions.bucket]), CommonOptions.output]
        var abort = Command("abort", "take away what failed and cancelled uploads have left")
        abort.operands = [Operand(.node, .any)]
        abort.groups = [
            OptionGroup("Which", [CommonOptions.all, LeftoverOptions.bucket, LeftoverOptions.upload]),
            OptionGroup("How", [LeftoverOptions.forget]), CommonOptions.output,
        ]
        var command = Command("leftovers", "unfinished uploads, parts and temporary files on servers")
        command.details = [
            "A cancelled upload's remains go by themselves when its grace time is over. Those of a failed one stay, because a retry goes on from them.",
            "A bucket may hold more: --in asks its service. What belongs to a task of this queue is shown with it; the rest is somebody else's, or of a queue that has forgotten it, and is taken away only by its upload ID.",
        ]
        command.groups = [CommonOptions.output]
        command.subcommands = [list, abort]
        command.examples = [
            .init(line: "martlet leftovers abort --all", effect: "Leave no parts behind"),
            .init(
                line: "martlet leftovers list --in s3://archive/2026/",
                effect: "Unfinished uploads in a bucket, whoever began them"),
        ]
        return command
    }

    private static var receive: Command {
        var command = ReceiveProgram.command
        command.examples = [.init(line: "martlet receive ~/incoming", effect: "Take uploads on this machine")]
        return command
    }

    private static var session: Command {
        var list = Command("list", "sessions and what they hold")
        list.groups = [CommonOptions.output]
        var command = Command("session", "the owners of work")
        command.runsAlone = false
        command.subcommands = [
            list,
            sessionShow, sessionRemove,
            sessionSet,
        ]
        return command
    }

    static func notBuilt(_ name: String, _ summary: String, _ remedy: String) -> Command {
        var command = Command(name, summary)
        command.operands = [Operand(ValueSyntax<[UInt8]>.path("WORD", .nothing), .any)]
        command.availability = .notBuilt(remedy)
        return command
    }

    /// Commands of the contract that are refused for now.
    private static var later: [Command] {
        [
            notBuilt("signals", "what policy sees", "no policy is built that would need it"),
            notBuilt("policy", "what each signal does", "no policy is built that would need it"),
            notBuilt("fetch", "take a kept download out of the store", "download into a directory"),
            notBuilt("ls", "what a remote folder holds", "ask the server's own client"),
            notBuilt("doctor", "what would make a transfer stop", "see martlet why"),
        ]
    }
}
