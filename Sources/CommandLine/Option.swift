package import Configuration

/// One option of a command, whatever its values are.
package protocol AnyOption: Sendable {
    /// Without the dashes.
    var name: String { get }
    /// The one-letter form, if there is one.
    var short: Character? { get }
    /// One sentence without a full stop, for help, manual and completions.
    var help: String { get }
    /// Stands for the value; `nil`: the option takes none.
    var placeholder: String? { get }
    /// True when each of several values counts; otherwise the last one does.
    var repeats: Bool { get }
    var availability: Availability { get }
    /// Continues "give …" in the message about a bad value.
    var allowed: String { get }
    var completion: ValueCompletion { get }
    /// True when a value may be a secret: no message repeats it.
    var isSecret: Bool { get }
    /// The value, or `nil` when the bytes are not such a value.
    func read(_ bytes: [UInt8]) -> (any Sendable)?
}

/// The availability of a part of the command contract.
package enum Availability: Equatable, Sendable {
    case built
    /// Refused by name; the text says what to do instead.
    case notBuilt(String)
    /// Belongs to another command; the text says to which, after "is".
    case elsewhere(String)
}

/// One option whose values have a type. Declared once, listed in its command, and used to ask an ``Invocation``.
package struct Option<Value: Sendable>: AnyOption {
    package let name: String
    package let short: Character?
    package let help: String
    package let placeholder: String?
    package let repeats: Bool
    package let availability: Availability
    package let allowed: String
    package let completion: ValueCompletion
    package let isSecret: Bool
    private let reader: @Sendable ([UInt8]) -> Value?

    package init(
        _ name: String, short: Character? = nil, _ syntax: ValueSyntax<Value>, repeats: Bool = false,
        availability: Availability = .built, _ help: String
    ) {
        self.name = name
        self.short = short
        self.help = help
        placeholder = syntax.placeholder
        self.repeats = repeats
        self.availability = availability
        allowed = syntax.allowed
        completion = syntax.completion
        isSecret = syntax.isSecret
        reader = syntax.read
    }

    package func read(_ bytes: [UInt8]) -> (any Sendable)? { reader(bytes) }

    /// A shell command line uses the bytes alone.
    fileprivate init(flag name: String, short: Character?, availability: Availability, help: String, on: Value) {
        self.name = name
        self.short = short
        self.help = help
        placeholder = nil
        repeats = false
        self.availability = availability
        allowed = "no value"
        completion = .nothing
        isSecret = false
        reader = { _ in on }
    }
}

extension Option where Value == Bool {
    /// An option without a value.
    package static func flag(
        _ name: String, short: Character? = nil, availability: Availability = .built, _ help: String
    ) -> Option {
        Option(flag: name, short: short, availability: availability, help: help, on: true)
    }

    /// Every command has it.
    static let help = Option.flag("help", short: "h", "show this and exit")
}

extension AnyOption {
    /// `--limit RATE`.
    package var form: String { "--\(name)" + (placeholder.map { " \($0)" } ?? "") }

    /// True when it can be used.
    package var isBuilt: Bool { availability == .built }

    /// True when it belongs here and cannot be used yet.
    var isUnbuilt: Bool {
        if case .notBuilt = availability { true } else { false }
    }
}

/// Options that belong together in help and manual.
package struct OptionGroup: Sendable {
    package let title: String
    package let options: [any AnyOption]

    package init(_ title: String, _ options: [any AnyOption]) {
        self.title = title
        self.options = options
    }
}
