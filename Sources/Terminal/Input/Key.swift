/// A key of the keyboard, without its modifiers.
package enum Key: Hashable, Sendable {
    /// Whatever a key typed, space included. Never a control.
    case character(Unicode.Scalar)
    case enter
    case tab
    case backspace
    case escape
    case up
    case down
    case left
    case right
    case home
    case end
    case pageUp
    case pageDown
    case insert
    case delete
    /// F1 and so on.
    case function(Int)
}

/// Keys that were held.
package struct Modifiers: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let shift = Modifiers(rawValue: 1)
    package static let alt = Modifiers(rawValue: 2)
    package static let control = Modifiers(rawValue: 4)
}

/// One press of a key.
package struct KeyPress: Hashable, Sendable {
    package var key: Key
    package var modifiers: Modifiers

    package init(_ key: Key, _ modifiers: Modifiers = []) {
        self.key = key
        self.modifiers = modifiers
    }

    /// The press that types this character.
    package static func character(_ scalar: Unicode.Scalar) -> KeyPress { KeyPress(.character(scalar)) }

    /// Ctrl with a lower-case letter.
    package static func control(_ scalar: Unicode.Scalar) -> KeyPress { KeyPress(.character(scalar), .control) }
}

/// A press of the mouse, or a turn of its wheel. Releases and motion are not reported.
package struct MousePress: Hashable, Sendable {
    package enum Button: Hashable, Sendable {
        case left
        case middle
        case right
        case wheelUp
        case wheelDown
    }

    package var button: Button
    package var position: Position
    package var modifiers: Modifiers

    package init(_ button: Button, at position: Position, _ modifiers: Modifiers = []) {
        self.button = button
        self.position = position
        self.modifiers = modifiers
    }
}

/// Text that was pasted. It is text and nothing else: no byte of it is ever taken for a key.
package struct Paste: Hashable, Sendable {
    /// Without controls other than line feed and tab; line ends are line feeds. File names may be any bytes.
    package var bytes: [UInt8]
    /// Something is missing: it was longer than the limit, or its end never came.
    package var isIncomplete: Bool

    package init(bytes: [UInt8], isIncomplete: Bool = false) {
        self.bytes = bytes
        self.isIncomplete = isIncomplete
    }
}

/// An input from the terminal.
package enum Input: Hashable, Sendable {
    case key(KeyPress)
    case mouse(MousePress)
    case paste(Paste)
    /// The window got (true) or lost (false) the focus.
    case focus(Bool)
    /// The terminal is gone: its window was closed or the line is dead. Nothing follows.
    case closed
}
