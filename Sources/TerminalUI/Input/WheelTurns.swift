import MartletKit
import Terminal

/// The wheel of a mouse that is left to the terminal, so that it selects text: many terminals send arrows instead, three at once for
/// each notch.
enum WheelTurns {
    private static let arrowsOfNotch = 3

    /// Runs of the same arrow that were read at once become turns of the wheel: fingers are not that fast.
    static func read(_ inputs: [Input]) -> [Input] {
        var result: [Input] = []
        var rest = inputs[...]
        while let first = rest.first {
            let run = rest.prefix { $0 == first }
            rest = rest.dropFirst(run.count)
            if let button = button(first), run.count > 1 {
                let turns = (run.count + arrowsOfNotch - 1) / arrowsOfNotch
                let turn = Input.mouse(MousePress(button, at: Position(row: 0, column: 0)))
                result += Array(repeating: turn, count: turns)
            } else {
                result += run
            }
        }
        return result
    }

    private static func button(_ input: Input) -> MousePress.Button? {
        switch input {
        case .key(KeyPress(.up)): .wheelUp
        case .key(KeyPress(.down)): .wheelDown
        default: nil
        }
    }
}

extension Model {
    /// Here arrows go from file to file, so the wheel's must not.
    var hearsWheelAsArrows: Bool {
        page.hearsWheelAsArrows && !layers.open(in: self).contains { type(of: $0).takesKeys }
    }
}
