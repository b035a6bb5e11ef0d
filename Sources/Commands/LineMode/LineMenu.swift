import MartletKit

/// A menu of the line mode: the choices at one place, each with what is said of it and what it does.
struct LineMenu {
    /// Something that can be typed, and what comes of it.
    struct Choice {
        /// The words that are typed for it; the first of them is said.
        let words: [String]
        /// Stands behind the word in the prompt: `p pause`.
        let label: String
        /// Stands behind the word in the help: `p pauses the batch`.
        let help: String
        /// False where it makes no sense now; it is answered all the same.
        let isSaid: Bool
        let answer: (inout LineDialogue, LineDialogue.QueueState) -> LineDialogue.Reply

        init(
            _ words: String..., label: String, help: String = "", isSaid: Bool = true,
            answer: @escaping (inout LineDialogue, LineDialogue.QueueState) -> LineDialogue.Reply
        ) {
            (self.words, self.label, self.help, self.isSaid, self.answer) = (words, label, help, isSaid, answer)
        }
    }

    /// Said before the choices.
    let opening: String
    let choices: [Choice]

    init(opening: String, _ choices: [Choice]) { (self.opening, self.choices) = (opening, choices) }

    /// A menu below another, with the choices that all of these have.
    /// - Parameters:
    ///   - helpOpening: said before the help.
    ///   - back: the place to go back to.
    init(about subject: String, _ own: [Choice], helpOpening: String = "", back: LineDialogue.Place) {
        let goBack = Choice("0", "q", label: "back", help: "goes back") { dialogue, _ in dialogue.go(to: back) }
        let help = (own + [goBack]).map { "\($0.words[0]) \($0.help)" }.joined(separator: ", ")
        self.init(
            opening: "\(subject). ",
            own + [.undo, .problems, .help(["\(helpOpening)\(help).", LineDialogue.takesBack]), goBack])
    }

    var prompt: String {
        opening + choices.filter(\.isSaid).map { "\($0.words[0]) \($0.label)" }.joined(separator: ", ") + ":"
    }
}

extension LineMenu.Choice {
    static var undo: Self { Self("u", label: "undo") { _, _ in .init(commands: [["undo"]]) } }
    static var problems: Self {
        Self("e", label: "problems") { dialogue, queue in .init(lines: dialogue.problems(queue)) }
    }
    static func help(_ lines: [String]) -> Self { Self("h", "?", label: "help") { _, _ in .init(lines: lines) } }
}
