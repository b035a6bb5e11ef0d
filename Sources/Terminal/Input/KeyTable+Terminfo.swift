extension KeyTable {
    /// The table with the keys of the terminal that ncurses has open, so that odd terminals work too.
    static func ofTerminal() -> KeyTable {
        var table = builtIn
        for (name, press) in capabilities {
            if let sequence = Canvas.capability(name) { table.add(sequence, press) }
        }
        return table
    }

    /// terminfo(5) names. The ones with a digit behind are ncurses' extensions: 2 Shift, 3 Alt, 5 Ctrl and their sums.
    private static let capabilities: [(String, KeyPress)] = {
        var all: [(String, KeyPress)] = [
            ("kcuu1", KeyPress(.up)), ("kcud1", KeyPress(.down)), ("kcub1", KeyPress(.left)),
            ("kcuf1", KeyPress(.right)), ("khome", KeyPress(.home)), ("kend", KeyPress(.end)),
            ("kpp", KeyPress(.pageUp)), ("knp", KeyPress(.pageDown)), ("kich1", KeyPress(.insert)),
            ("kdch1", KeyPress(.delete)), ("kcbt", KeyPress(.tab, .shift)), ("kent", KeyPress(.enter)),
            ("kri", KeyPress(.up, .shift)), ("kind", KeyPress(.down, .shift)), ("kLFT", KeyPress(.left, .shift)),
            ("kRIT", KeyPress(.right, .shift)), ("kHOM", KeyPress(.home, .shift)), ("kEND", KeyPress(.end, .shift)),
            ("kDC", KeyPress(.delete, .shift)), ("kIC", KeyPress(.insert, .shift)),
            ("kPRV", KeyPress(.pageUp, .shift)), ("kNXT", KeyPress(.pageDown, .shift)),
        ]
        all += (1...20).map { ("kf\($0)", KeyPress(.function($0))) }
        let keys: [(String, Key)] = [
            ("kUP", .up), ("kDN", .down), ("kLFT", .left), ("kRIT", .right), ("kHOM", .home), ("kEND", .end),
            ("kDC", .delete), ("kIC", .insert), ("kPRV", .pageUp), ("kNXT", .pageDown),
        ]
        for (name, key) in keys {
            for digit in 3...7 {
                all.append((name + "\(digit)", KeyPress(key, Modifiers(rawValue: UInt8(digit - 1)))))
            }
        }
        return all
    }()
}
