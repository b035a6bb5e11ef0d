import CommandLine
import Testing

@testable import Commands

@Suite("Command lines that cannot be done are refused in words that name the cause and the cure")
struct RefusedCommandTests {
    private static let usages: [([String], String)] = [
        (["help", "list", "x"], "help: list has no commands of its own, such as \"x\": martlet help list"),
        (["limits"], "there is no command \"limits\": did you mean limit?"),
        (["engine", "status", "x"], "engine: status: \"x\" is one operand too many: give none"),
        (["move", "b7"], "move: it is not said where to: give one of --top, --bottom and --before ID"),
        (
            ["move", "b7", "--top", "--bottom"],
            "move: more than one place is given: give one of --top, --bottom and --before ID"
        ),
        (["pause"], "pause: nothing is named: give IDs such as b7, or a selector such as --all"),
        (
            ["pause", "b7", "t3", "--all"],
            "pause: both IDs and selectors are given: give one or the other, or one batch with selectors"
        ),
        (
            ["list", "--filter", "@err", "--session", "photos"],
            "list: --filter and --session together are not understood: give --batch instead"
        ),
        (["purge"], "purge: no ID is given: give IDs, or --finished"),
        (["purge", "b7", "--finished"], "purge: both IDs and --finished are given: give IDs, or --finished"),
        (
            ["set", "b7"],
            "set: nothing is to be changed: give --priority, --limit, --not-before, --header or another option"
        ),
        (
            ["set", "--all", "--user", "u"],
            "set: --user: there is no terminal to ask for the password: give --password-command or --netrc"
        ),
        (["session", "set", "photos"], "session set: nothing is to be changed: give --limit RATE, or --limit off"),
        (["events", "--ack", "12"], "events: --ack needs a --consumer: name who has dealt with them"),
        (["show", "b7", "--history"], "show: --history and --response are for tasks: give a task such as t31"),
        (
            ["show", "b7:raw", "--json"], "show: a folder has no --json yet: use list b7:raw --json"
        ),
        (["watch", "--json"], "watch has no --json yet: use events --follow --json, or list --json"),
        (
            ["limit", "tea"],
            "limit: \"tea\" is neither a rate nor a timetable: "
                + "give bytes a second such as 512K, off, or a timetable such as \"08:00,512K 18:00,off\""
        ),
        (["limit", "--up"], "limit: no rate is given: give one such as 512K, or off to take the limit away"),
        (
            ["limit", "08:00,1K", "--host", "nas"],
            "limit: only the whole engine follows a timetable: give the host one rate, or off"
        ),
        (
            ["limit", "1K", "--up", "--host", "nas"],
            "limit: a host's limit is for both ways together: leave out --up and --down"
        ),
        (["undo", "--list", "b7"], "undo: --list shows all, and something is named besides: leave one of them out"),
        (
            ["upload", "--exclude", "*.{tmp,bak}", "/etc/hostname", "https://h/in"],
            "upload: --exclude: \"*.{tmp,bak}\" is not allowed: "
                + "give a pattern such as '*.jpg' or 'raw/**'; a list in braces is none: give the option once for each"
        ),
        (["again", "t7"], "again: ID: \"t7\" is not allowed: give a batch such as b7"),
        (
            ["upload", "--form", "f", "--method", "PUT", "/etc/hostname", "https://h/in"],
            "upload: a form cannot be sent by PUT: leave --method out"
        ),
        (
            ["upload", "--password-command", "./pw nas", "/etc/hostname", "https://h/in"],
            "upload: --password-command: \"./pw nas\" is not allowed: "
                + "give a command by its name or its absolute path (it is run in /)"
        ),
        (
            ["set", "b7", "--field", "photo=@a.jpg"],
            "set: --field: what is given is not allowed: "
                + "give a field and its text such as album=June; a file is a SOURCE, and --form names its field; "
                + "text with an @ in front is K=@@TEXT"
        ),
        (
            ["leftovers", "list", "--in", "https://h/"],
            "leftovers list: https://h/ is no bucket: write s3://BUCKET/PREFIX"
        ),
        (
            ["leftovers", "abort", "--upload", "x"],
            "leftovers abort: --upload without a bucket: say where with --in s3://BUCKET/PREFIX"
        ),
        (
            ["leftovers", "abort", "b1"],
            "leftovers abort: b1 is no task: give tasks such as t31; martlet leftovers lists them"
        ),
        (["leftovers", "abort"], "leftovers abort: no task is named: give IDs, or --all"),
        (
            ["upload", "--header", "Content-Length: 5", "/etc/hostname", "https://h/in"],
            "upload: --header: Martlet writes the header field Content-Length itself: leave it out, each request has its own"
        ),
        (
            ["set", "b7", "--header", "if-none-match: *"],
            "set: --header: Martlet writes the header field if-none-match itself: "
                + "say with --if-exists what becomes of a file that is there"
        ),
        (["leftovers", "abort", "t3", "--all"], "leftovers abort: both IDs and --all are given: give IDs, or --all"),
        (
            ["leftovers", "abort", "--in", "s3://b/p"],
            "leftovers abort: in a bucket each upload is named by its ID alone: "
                + "give --upload UPLOAD-ID; martlet leftovers list --in s3://b/p lists them"
        ),
        (
            ["destination", "add", "a b", "https://h/"],
            "destination add: \"a b\" is no name: use up to 64 letters, digits, dots, dashes and underscores"
        ),
        (
            ["destination", "add", "sftp", "https://h/"],
            "destination add: sftp is the name of a protocol: choose another one"
        ),
        (
            ["destination", "add", "x", "https://h/?token=abc"],
            "destination add: the URL of a configured server has a query: leave it out"
        ),
        (
            ["destination", "add", "x", "s3://b/", "--endpoint", "https://k:s@h"],
            "destination add: the endpoint is more than scheme, host and path: leave user and query out"
        ),
        (
            ["upload", "--segments", "4", "/etc/hostname", "https://h/in"],
            "upload: --segments is for downloads: leave it out"
        ),
    ]

    @Test("by the status for a wrong use")
    func usage() async {
        for (words, said) in Self.usages {
            let bench = Bench()
            #expect(await bench.run(words.map { Argument($0) }) == .usage, "\(words)")
            #expect(bench.error == "martlet: \(said)\n", "\(words)")
            #expect(bench.engine.asked == [], "\(words)")
        }
    }

    @Test("by the status for what is not there, is refused or cannot be reached")
    func others() async throws {
        func said(_ words: String..., by bench: Bench = Bench()) async -> String {
            #expect(await bench.run(words.map { Argument($0) }) != .done, "\(words)")
            return bench.error
        }
        let empty = Bench { $0.queueExists = false }
        #expect(
            await said("wait", "t9", by: empty)
                == "martlet: wait: there is no t9: see martlet list\n")
        #expect(
            await said("undo", "12")
                == "martlet: undo: there is no change 12 that can be taken back: see martlet undo --list\n")
        #expect(
            await said("list", "--session", "photos")
                == "martlet: no batch is in a session photos: see martlet session list\n")
        #expect(
            await said("destination", "remove", "x", by: Bench())
                == "martlet: there is no folder for destinations.conf: set HOME or MARTLET_HOME\n")
        let back = Bench(FakeEngine { $0.takesStopBack = true })
        #expect(
            await said("engine", "stop", by: back)
                == "martlet: the engine goes on: meanwhile something was queued, resumed or tried again, or it was started: "
                + "stop it again, or martlet pause --all\n")
        #expect(await said("docs") == "martlet: docs does nothing: see martlet --help\n")
        let docs = try MartletProgram.program.parse(["docs", "x"].map { Argument($0) })
        guard case .run(let invocation) = docs else {
            Issue.record("it is help")
            return
        }
        let none = #expect(throws: CommandFailure.self) { try DocsCommand.plan(invocation, Bench().context.console) }
        #expect(none?.message == "docs: there is no x: see martlet docs")
        #expect(await said("engine", "status") == "martlet: the engine went away: try again\n")
    }
}
