import DisplayText
import Terminal

/// Lines to fill in and, behind them, buttons. Which field is what, its owner knows.
struct Form<ID: Hashable & Sendable>: Sendable {
    struct Choice: Hashable, Sendable {
        /// As it stands in commands.
        var word: String
        /// The effect of the choice, for the line below.
        var meaning: String
    }

    struct Field: Sendable {
        enum Value: Sendable {
            case text(TextField, isSecret: Bool)
            case choice([Choice], Int)
        }

        var id: ID
        var label: String
        var value: Value
        /// The instructions for the field, for the line below.
        var help: String

        static func text(
            _ id: ID, _ label: String, _ text: String = "", help: String, isSecret: Bool = false
        ) -> Field {
            Field(id: id, label: label, value: .text(TextField(Array(text.utf8)), isSecret: isSecret), help: help)
        }

        static func choice(_ id: ID, _ label: String, _ choices: [(String, String)], _ selected: Int = 0) -> Field {
            Field(
                id: id, label: label,
                value: .choice(choices.map { Choice(word: $0.0, meaning: $0.1) }, selected), help: "")
        }
    }

    enum Outcome: Sendable {
        case editing
        /// A button was pressed.
        case pressed(Int)
        case back
        case close
        case help
    }

    var fields: [Field]
    let buttons: [String]
    /// A field, or `fields.count`: the buttons.
    private(set) var selected: Int
    private(set) var button = 0
    /// No key was pressed yet: its beginning is what is to be seen.
    private(set) var isFresh = true

    init(_ fields: [Field], buttons: [String], selectsButtons: Bool = false) {
        self.fields = fields
        self.buttons = buttons
        selected = selectsButtons ? fields.count : 0
    }

    /// True when letters are text, because a text field is selected.
    var isTyping: Bool {
        guard fields.indices.contains(selected), case .text = fields[selected].value else { return false }
        return true
    }

    var isOnButtons: Bool { selected == fields.count }

    /// The text of a field; empty when it is no line of text, or none of these.
    func text(_ id: ID) -> String {
        guard case .text(let field, _)? = fields.first(where: { $0.id == id })?.value else { return "" }
        return String(decoding: field.bytes, as: UTF8.self)
    }

    /// The word chosen in a field.
    func word(_ id: ID) -> String? {
        guard case .choice(let choices, let index)? = fields.first(where: { $0.id == id })?.value else { return nil }
        return choices[index].word
    }

    mutating func set(_ id: ID, to text: String) {
        guard let index = fields.firstIndex(where: { $0.id == id }) else { return }
        switch fields[index].value {
        case .text(_, let isSecret):
            fields[index].value = .text(TextField(Array(text.utf8)), isSecret: isSecret)
        case .choice(let choices, _):
            if let choice = choices.firstIndex(where: { $0.word == text }) {
                fields[index].value = .choice(choices, choice)
            }
        }
    }

    /// Puts a field behind another one, or takes it away again; what is selected stays selected.
    mutating func show(_ field: Field, behind id: ID, when isWanted: Bool) {
        let place = fields.firstIndex { $0.id == field.id }
        if isWanted, place == nil, let before = fields.firstIndex(where: { $0.id == id }) {
            fields.insert(field, at: before + 1)
            if selected > before { selected += 1 }
        } else if !isWanted, let place {
            fields.remove(at: place)
            if selected > place { selected -= 1 }
        }
    }

    mutating func select(_ id: ID) { if let index = fields.firstIndex(where: { $0.id == id }) { selected = index } }

    /// The help on the selected field.
    var help: String {
        guard fields.indices.contains(selected) else { return "" }
        switch fields[selected].value {
        case .text: return fields[selected].help
        case .choice(let choices, let index): return choices[index].meaning
        }
    }

    /// F2 presses the first button from anywhere.
    mutating func take(_ press: KeyPress) -> Outcome {
        isFresh = false
        switch (press.key, press.modifiers) {
        case (.escape, _): return .back
        case (.character("c"), .control): return .close
        case (.function(1), _): return .help
        case (.function(2), _): return .pressed(0)
        // Tab goes round.
        case (.tab, .shift): selected = selected == 0 ? fields.count : selected - 1
        case (.tab, _): selected = isOnButtons ? 0 : selected + 1
        case (.up, _): selected = max(0, selected - 1)
        case (.down, _): selected = min(fields.count, selected + 1)
        case (.pageUp, _): selected = 0
        case (.pageDown, _): selected = fields.count
        case (.enter, _):
            if isOnButtons { return .pressed(button) }
            selected += 1
        default:
            guard isOnButtons else {
                edit(press)
                break
            }
            if let turn = press.turn { button = min(max(0, button + turn), buttons.count - 1) }
        }
        return .editing
    }

    /// A click on a field goes there, one on a choice takes it, one on a button chooses that, and one on the chosen button presses it.
    mutating func click(_ target: FormTarget) -> Outcome {
        isFresh = false
        switch target {
        case .button(let index) where isOnButtons && index == button: return .pressed(index)
        case .button(let index): (selected, button) = (fields.count, min(index, buttons.count - 1))
        case .field(let index, let choice):
            guard fields.indices.contains(index) else { break }
            selected = index
            guard let choice, case .choice(let choices, _) = fields[index].value, choices.indices.contains(choice)
            else {
                break
            }
            fields[index].value = .choice(choices, choice)
        }
        return .editing
    }

    private mutating func edit(_ press: KeyPress) {
        switch fields[selected].value {
        case .text(var field, let isSecret):
            _ = field.edit(press)
            fields[selected].value = .text(field, isSecret: isSecret)
        case .choice(let choices, let index):
            guard let turn = press.turn else { return }
            fields[selected].value = .choice(choices, (index + turn + choices.count) % choices.count)
        }
    }

    /// Into the selected line, as one line.
    mutating func paste(_ bytes: [UInt8]) {
        guard fields.indices.contains(selected), case .text(var field, let isSecret) = fields[selected].value else {
            return
        }
        field.paste(bytes)
        fields[selected].value = .text(field, isSecret: isSecret)
    }
}

extension KeyPress {
    /// One on or one back among choices that stand side by side.
    fileprivate var turn: Int? {
        switch (key, modifiers) {
        case (.right, _), (.character(" "), []): 1
        case (.left, _): -1
        default: nil
        }
    }
}
