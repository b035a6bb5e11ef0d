import Configuration
import DisplayText
import MartletKit
import Testing

@testable import TerminalUI

@Suite("What is queued, as a command")
struct AddOrderTests {
    private func command(_ order: AddOrder) -> String {
        String(decoding: order.command(home: Array("/home/ana".utf8)), as: UTF8.self)
    }

    private func upload(_ paths: [String], to url: String = "https://host/in/") -> AddOrder {
        AddOrder(.upload(paths.map { Array($0.utf8) }, to: url))
    }

    @Test("what is as usual is left out; home is a tilde that a shell still expands")
    func short() {
        #expect(command(upload(["/home/ana/Photos/raw"])) == "martlet upload ~/Photos/raw https://host/in/")
        #expect(command(upload(["/home/anarchy"])) == "martlet upload /home/anarchy https://host/in/")
        #expect(command(upload(["/home/ana/a b"])) == "martlet upload ~/'a b' https://host/in/")
    }

    @Test("every option that was chosen is there")
    func options() {
        var order = upload(["/d"], to: "s3://bucket/x/")
        order.name = "it's"
        order.ifExists = .skip
        order.verify = .digest
        order.followLinks = true
        order.include = ["*.jpg"]
        order.exclude = ["$HOME/*"]
        order.limit = RateLimit("8M")
        order.priority = .high
        order.start = .held
        #expect(
            command(order)
                == #"martlet upload --name 'it'\''s' --if-exists skip --verify digest --follow-links "#
                + #"--include '*.jpg' --exclude '$HOME/*' --limit 8M --priority high --hold /d s3://bucket/x/"#)
    }

    @Test("a time is written as the person wrote it")
    func times() {
        var order = upload(["/d"])
        order.start = .at("2026-12-24 06:00")
        #expect(command(order) == "martlet upload --not-before '2026-12-24 06:00' /d https://host/in/")
    }

    @Test("a command that needs several lines goes on behind a backslash, inside a word without any blank")
    func lines() {
        let long = "/d/" + String(repeating: "x", count: 30)
        let words = upload(["/d/one two", long]).words
        let lines = ShellCommand(words: words, home: []).lines(width: 24, indent: 3)
        #expect(
            lines.map { String(decoding: $0.bytes, as: UTF8.self) } == [
                #"martlet upload \"#, #"'/d/one two' \"#, #"/d/xxxxxxxxxxxxxxxxxx\"#, #"xxxxxxxxxxxx \"#,
                "https://host/in/",
            ])
        #expect(lines.map(\.isInsideWord) == [false, false, false, true, false])
        #expect(ShellCommand(words: words, home: []).lines(width: 200).count == 1)
    }

    @Test("where there is no room for all files of a command dots stand for them, never for where they go")
    func dots() {
        let words = upload((1...6).map { "/d/file-\($0)" }).words
        func lines(_ most: Int) -> [String] {
            ShellCommand(words: words, home: []).lines(width: 40, atMost: most).map {
                String(decoding: $0.bytes, as: UTF8.self)
            }
        }
        #expect(
            lines(9) == [
                #"martlet upload /d/file-1 /d/file-2 \"#, #"/d/file-3 /d/file-4 /d/file-5 \"#,
                "/d/file-6 https://host/in/",
            ])
        #expect(lines(2) == [#"martlet upload /d/file-1 /d/file-2 \"#, "/d/file-3 /d/file-4 ... https://host/in/"])
        #expect(lines(1) == [#"martlet upload /d/file-1 ... \"#, "https://host/in/"])
    }

    @Test("a screen that knows ASCII alone shows what a shell turns into the very name")
    func ascii() {
        let words = upload(["/d/ä"]).words
        let lines = ShellCommand(words: words, home: [], characters: .ascii).lines(width: 80)
        #expect(
            lines.map { String(decoding: $0.bytes, as: UTF8.self) }
                == [#"martlet upload $'/d/\303\244' https://host/in/"#])
    }

    @Test("a password is in no command, its user is")
    func passwords() {
        var order = upload(["/d"], to: "https://ana:pa@ss@host/in/")
        order.password = "secret"
        #expect(command(order) == "martlet upload /d https://ana@host/in/")
    }

    @Test("names that no terminal should see are written so that a shell gets the very bytes")
    func hostile() {
        let name = Array("/d/x\u{1B}[31m'".utf8) + [0xFF, 0x0A]
        let order = AddOrder(.upload([name], to: "https://host/in/"))
        #expect(command(order) == #"martlet upload $'/d/x\033\13331m\047\377\012' https://host/in/"#)
        #expect(ShellCommand.quoted("") == Array("''".utf8))
        #expect(ShellCommand.quoted("a;b") == Array("'a;b'".utf8))
        #expect(ShellCommand.quoted("\u{202E}gpj") == Array(#"$'\342\200\256gpj'"#.utf8))
        #expect(ShellCommand.quoted("写真 1") == Array("'写真 1'".utf8))
    }

    @Test("a download's folder ends in a slash, so that it is made when it is not there")
    func downloads() {
        let order = AddOrder(.download(["https://h/a?b=1&c"], into: Array("/home/ana/in".utf8)))
        #expect(command(order) == "martlet download 'https://h/a?b=1&c' ~/in/")
    }
}
