import DisplayText

/// The keys of a step in which something is typed. They are the same everywhere and stand in no table: letters are text there.
struct FormHelp: Hashable, Sendable {
    /// The name of the step in help.
    let place: SafeText
    let lines: [Line]

    struct Line: Hashable, Sendable {
        let keys: String
        let summary: String

        init(_ keys: String, _ summary: String) { (self.keys, self.summary) = (keys, summary) }
    }

    /// From field to field of a form.
    static let fields = [
        Line("Tab S-Tab", "next field, and back"), Line("Up Down", "the same"),
        Line("PgUp PgDn", "first field, and the buttons"),
    ]

    /// Within a line.
    static let editing = [
        Line("^A ^E", "to the begin or end of the line"), Line("^W ^U ^K", "delete a word, before, behind"),
    ]

    /// Within a line, and out of a step.
    static let ending =
        editing + [
            Line("Esc", "one step back"), Line("^C", "close; what is chosen is kept"),
        ]
}
