import DisplayText

/// The help of the steps in which something is typed.
extension FormHelp {
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
