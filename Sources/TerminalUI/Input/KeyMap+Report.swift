import Terminal

extension KeyMap {
    /// Keys that were set and will not arrive: what the terminal itself takes for another key, and what a multiplexer
    /// keeps for itself.
    ///
    /// - Parameter has: whether a variable of the environment is set.
    package func unreachable(_ has: (String) -> Bool) -> [String] {
        var taken: [(keys: [String], by: String)] = [
            (["^M", "^I", "^H", "^["], "Enter, Tab, Backspace or Esc on every terminal")
        ]
        if has("TMUX") { taken.append((["^B"], "taken by tmux")) }
        if has("STY") { taken.append((["^A"], "taken by screen")) }
        if has("ZELLIJ") { taken.append((["^G", "^P", "^T", "^N", "^H", "^S", "^O", "^Q"], "taken by zellij")) }
        var found: [String] = []
        for view in View.allCases {
            for action in actions(in: view) {
                for press in keys(for: action, in: view) {
                    guard let (_, by) = taken.first(where: { $0.keys.contains(press.name) }) else { continue }
                    found.append("\(press.name) is \(by): \"\(action.rawValue)\" in \(view.rawValue) needs another key")
                }
            }
        }
        return found
    }
}
