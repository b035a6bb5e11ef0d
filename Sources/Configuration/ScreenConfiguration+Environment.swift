import DisplayText

extension ScreenConfiguration {
    /// The variable that stands for a key of `[screen]`: `MARTLET_UNITS` for `units`.
    package static func variable(_ key: String) -> String {
        "MARTLET_" + key.uppercased().map { $0 == "-" ? "_" : $0 }
    }

    /// Takes what the environment says; what does not count in it is a sentence each.
    package mutating func take(environment: (String) -> String?) -> [String] {
        var problems: [String] = []
        for setting in Self.settings {
            let name = Self.variable(setting.key)
            guard let value = environment(name), !value.isEmpty, !setting.read(value, &self) else { continue }
            problems.append(
                "\(name): \"\(value)\" is not allowed: give \(setting.allowed) (\(setting.written(self)) counts)"
                    .harmless)
        }
        return problems
    }
}
