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

    private static let fields = [
        Line("Tab S-Tab", "next field, and back"), Line("Up Down", "the same"),
        Line("PgUp PgDn", "first field, and the buttons"),
    ]

    private static let editing = [
        Line("^A ^E", "to the begin or end of the line"), Line("^W ^U ^K", "delete a word, before, behind"),
    ]

    private static let ending =
        editing + [
            Line("Esc", "one step back"), Line("^C", "close; what is chosen is kept"),
        ]

    static let links = FormHelp(
        place: "what to download",
        lines: [
            Line("Enter", "take the URL; on an empty line go on"), Line("F2", "go on"),
            Line("Up Down", "to a URL of the list"), Line("x Del", "there: take it out"),
        ] + ending)

    static let destination = FormHelp(
        place: "where to send it",
        lines: [
            Line("Enter F2", "go on with what stands in the line"), Line("Up Down Tab", "choose one of the list"),
        ] + ending)

    static let server = FormHelp(
        place: "a server",
        lines: fields + [
            Line("Left Right", "along the line, or to the next button"), Line("Enter", "next field, or the button"),
        ]
            + editing + [Line("Esc ^C", "close without a change")])

    static let review = FormHelp(
        place: "the last look",
        lines: [
            Line("F2", "start it, from any field")
        ] + fields + [
            Line("Space Right", "the next choice"), Line("Left", "the choice before"),
            Line("F3", "names that are not sent"), Line("v", "the same, on the buttons"),
        ] + ending)
}

extension AddFlow {
    /// The help of the step that is open; `nil`: its keys stand in the table.
    var formHelp: FormHelp? {
        if isPicking { return nil }
        return switch step {
        case .first: .links
        case .second: .destination
        case .third: .review
        }
    }
}
