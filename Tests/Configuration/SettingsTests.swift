import Testing

@testable import Configuration

@Suite("martlet.conf becomes settings")
struct SettingsTests {
    private func read(_ text: String) -> (settings: Settings, problems: [String]) {
        var problems: [ConfigurationProblem] = []
        let settings = Settings(bytes: Array(text.utf8), problems: &problems)
        return (settings, problems.map { $0.description(file: "martlet.conf") })
    }

    @Test("an empty file leaves every default")
    func empty() {
        #expect(read("") == (Settings(), []))
    }

    @Test("keys before the first section and under [engine] are the engine's")
    func engineKeys() {
        let (settings, problems) = read("transfers = 3\n[engine]\ngrace = 1m\nlimit-up = 2M\n[screen]\nunits = si\n")
        #expect(problems == [])
        #expect(settings.engine.transfers == 3)
        #expect(settings.engine.grace == TimeSpan(seconds: 60))
        #expect(settings.engine.uploadLimit == RateTimetable(.bytesPerSecond(2 << 20)))
        #expect(settings.screen.units == .si)
    }

    @Test("an unknown key is named with its line and the nearest one")
    func unknownKey() {
        #expect(
            read("\ntransfer = 3\ncolour-scheme = x\n").problems == [
                "martlet.conf line 2: transfer is not a setting: is it transfers?",
                "martlet.conf line 3: colour-scheme is not a setting: remove it",
            ])
    }

    @Test("a bad value is named with what is allowed, and the default stays")
    func badValue() {
        let (settings, problems) = read("[screen]\nglyphs = emoji\n[engine]\ntransfers = 0\n")
        #expect(settings == Settings())
        #expect(
            problems == [
                "martlet.conf line 2: glyphs: \"emoji\" is not allowed: give auto, unicode, narrow or ascii (auto counts)",
                "martlet.conf line 4: transfers: \"0\" is not allowed: give a whole number from 1 to 256 (8 counts)",
            ])
    }

    @Test("a key given twice is reported, and the last counts")
    func twice() {
        let (settings, problems) = read("transfers = 3\ntransfers = 4")
        #expect(settings.engine.transfers == 4)
        #expect(problems == ["martlet.conf line 2: transfers stands in line 1 too: remove one of them"])
    }

    @Test("an unknown section is reported once and its keys are left alone")
    func unknownSection() {
        #expect(
            read("[sceen]\nunits = si\nx = y").problems == [
                "martlet.conf line 1: [sceen] is not a section: is it [screen]?"
            ])
    }

    @Test("control characters of the file do not get into a message")
    func harmless() {
        #expect(
            read("glyphs\u{1B}[2J = x").problems == ["martlet.conf line 1: glyphs\\x1b[2J is not a setting: remove it"])
    }

    @Test("every default is written as text that is read again")
    func defaults() {
        let uncommented = Settings.example.split(separator: "\n").map { line in
            line.contains(" = ") && line.hasPrefix("# ") ? String(line.dropFirst(2)) : String(line)
        }
        #expect(read(uncommented.joined(separator: "\n")) == (Settings(), []))
    }

    @Test("keys.conf gives actions their keys, by view")
    func keys() {
        var problems: [ConfigurationProblem] = []
        let bindings = KeyBinding.read(
            bytes: Array("quit = q F10\n[transfers]\ncancel = x\tDel\nundo =\n".utf8), problems: &problems)
        #expect(
            bindings == [
                KeyBinding(view: nil, action: "quit", keys: ["q", "F10"], line: 1),
                KeyBinding(view: "transfers", action: "cancel", keys: ["x", "Del"], line: 3),
                KeyBinding(view: "transfers", action: "undo", keys: [], line: 4),
            ])
        #expect(problems.isEmpty)
    }
}

@Suite("Columns in martlet.conf")
struct ColumnSettingTests {
    @Test("a list of columns, all of them, or a problem that names what there is")
    func columns() {
        var problems: [ConfigurationProblem] = []
        let some = Settings(bytes: Array("[screen]\ncolumns = size percent\n".utf8), problems: &problems)
        #expect(some.screen.columns.words == ["size", "percent"])
        #expect(problems.isEmpty)
        let bad = Settings(bytes: Array("[screen]\ncolumns = size colour\n".utf8), problems: &problems)
        #expect(bad.screen.columns == .all)
        #expect(problems.first?.line == 2)
    }

    @Test("colours by role: names, numbers and #rrggbb; what is unknown or clashes is named with its line")
    func colors() {
        var problems: [ConfigurationProblem] = []
        let file = "[colors]\nok = green\nerror = #ff0000\nwarn = 196\neror = red\ndim = default\ninfo = 256\n"
        let settings = Settings(bytes: Array(file.utf8), problems: &problems)
        #expect(settings.colors.ok.index == 2 && settings.colors.dim.index == -1)
        #expect(settings.colors.error.index == 196 && settings.colors.error.written == "#ff0000")
        #expect(settings.colors.info == .theme && settings.colors.info.index == nil)
        #expect(problems.map(\.line) == [4, 5, 7])
        #expect(problems[0].message == "warn and error have the same colour: give one of them another")
        #expect(problems[1].message == "eror is not a setting: is it error?")
        #expect(problems[2].message.hasPrefix("info: \"256\" is not allowed: give theme, default, black"))
    }

    @Test("the environment says what a key of the screen says, and wins over the file")
    func environment() {
        var screen = ScreenConfiguration()
        screen.units = .si
        let variables = [
            "MARTLET_UNITS": "iec", "MARTLET_ASK_LEAVE": "off", "MARTLET_BELL": "x\u{1B}", "MARTLET_CLOCK": "",
        ]
        let problems = screen.take(environment: { variables[$0] })
        #expect(screen.units == .iec && !screen.askLeave && !screen.bell && screen.clock)
        #expect(problems == ["MARTLET_BELL: \"x\\x1b\" is not allowed: give on or off (off counts)"])
    }
}
