import Terminal

/// Something that lies over the page, is drawn after it and is asked before it: a question, a form, the steps of adding, a line that is
/// typed.
///
/// For whoever adds one: a type that conforms, with a level of its own in `LayerLevel`. It is open as long as it is in `Model.layers`. Like a
/// page it is a value that puts what it has become back into the model.
protocol Layer: Sendable {
    static var level: LayerLevel { get }
    /// True when it is given every key as it is, and nothing below it gets one; else it is asked about the actions of the page's keys.
    static var takesKeys: Bool { get }
    /// True when nothing of what lies below is to be seen.
    static var hidesPage: Bool { get }
    /// False while it is only kept for later.
    func isOpen(in model: Model) -> Bool
    /// True when clicks are wanted as long as it is open; `nil`: what lies below says so.
    var wantsMouse: Bool? { get }

    func take(_ press: KeyPress, in model: inout Model)
    /// Does an action that a key of the page asks for; false: it is the page's.
    func perform(_ action: Action, in model: inout Model) -> Bool
    /// A key that is no action was pressed, and is for what lies below.
    func passOver(in model: inout Model)
    /// Takes what is pasted; false: it is for what lies below.
    func paste(_ bytes: [UInt8], in model: inout Model) -> Bool
    /// Takes a press of the mouse: nothing below gets one.
    func take(_ press: MousePress, in model: inout Model)
    func draw(in drawing: inout Drawing)
}

extension Layer {
    static var takesKeys: Bool { true }
    static var hidesPage: Bool { false }
    func isOpen(in model: Model) -> Bool { true }
    var wantsMouse: Bool? { nil }

    func take(_ press: KeyPress, in model: inout Model) {}
    func perform(_ action: Action, in model: inout Model) -> Bool { false }
    func passOver(in model: inout Model) {}
    func paste(_ bytes: [UInt8], in model: inout Model) -> Bool { false }
    func take(_ press: MousePress, in model: inout Model) {}
}

/// The order in which layers lie over each other, the lowest first.
enum LayerLevel: Int, Sendable {
    case find, commandPrompt, filterLine, why, adding, limits, dialog
}

/// The layers that are there, one of a type.
///
/// One rule for all: nothing comes up by itself while a person types or decides something, over it or under it. The next key would be
/// taken for an answer, or the line be gone.
struct LayerStack: Sendable {
    /// The highest first.
    private var layers: [any Layer] = []
    /// True while a message is taken that is no key, no paste and no press of the mouse, and a person is busy with a layer or a line.
    var isShut = false
    /// Something was not let up since `isShut` was set.
    private(set) var wasRefused = false

    subscript<Kind: Layer>(_ kind: Kind.Type) -> Kind? {
        get { layers.lazy.compactMap { $0 as? Kind }.first }
        set {
            guard newValue == nil || admits(kind) else { return }
            layers.removeAll { $0 is Kind }
            guard let newValue else { return }
            let place = layers.firstIndex { type(of: $0).level.rawValue < Kind.level.rawValue }
            layers.insert(newValue, at: place ?? layers.endIndex)
        }
    }

    /// False where a layer may not come up now; one that is there may change.
    mutating func admits<Kind: Layer>(_ kind: Kind.Type) -> Bool {
        if !isShut || layers.contains(where: { $0 is Kind }) { return true }
        wasRefused = true
        return false
    }

    /// Lets up what a person asks for. - Returns: true: something was refused.
    mutating func reopen() -> Bool {
        defer { (isShut, wasRefused) = (false, false) }
        return wasRefused
    }

    /// The open ones, the highest first.
    func open(in model: Model) -> [any Layer] { layers.filter { $0.isOpen(in: model) } }
}

extension Drawing {
    /// The hints of a layer in the last line.
    mutating func hints(_ hints: [(key: String, word: String)]) {
        if let row = layout.hints { hintLine(HintLine.text(hints, width: width), row) }
    }
}
