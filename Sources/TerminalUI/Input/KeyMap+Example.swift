import Terminal

extension KeyMap {
    /// A `keys.conf` with every action, each line commented out: what it says is so without it.
    static var example: String {
        var lines = [
            "# Keys of the screen of martlet: $XDG_CONFIG_HOME/martlet/keys.conf. Every line that begins with # is a comment;",
            "# the ones below say how it is without them. A line is  action = key key ...  and stands under the [view] in which",
            "# it holds, or above all of them for every view. The first key is the one that hints show. :keys in the screen",
            "# lists clashes and keys that cannot arrive.",
            "#",
            "# Keys: letters and signs as they are, ^D for Ctrl-D, S- for Shift, M- for Alt, F1 to F24, Space Enter Tab Esc",
            "# Backspace Ins Del Home End PgUp PgDn Up Down Left Right; semicolon hash equals bracketleft bracketright for ; # = [ ]",
        ]
        for view in View.allCases {
            lines += ["", "[\(view.rawValue)]"]
            for action in standard.actions(in: view) {
                let names = standard.keys(for: action, in: view).map { press in
                    spelled.first { $0.value == press.name }?.key ?? press.name
                }
                let line = "#\(action.rawValue) = \(names.joined(separator: " "))"
                lines.append(line)
            }
        }
        return lines.joined(separator: "\n")
    }
}
