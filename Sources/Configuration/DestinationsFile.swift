/// `destinations.conf`: configured servers, a section each.
///
/// Reading never fails: what does not count is reported with its line, and the other lines count. A section with such a
/// line is known, and not to be used: what was misspelt may be whom it trusts. Changing the file leaves every other line as
/// it is, comments too.
package struct DestinationsFile: Equatable, Sendable {
    /// In the order of the file.
    package private(set) var destinations: [Destination] = []
    package private(set) var problems: [ConfigurationProblem] = []
    /// The first problem of each section that has one.
    package private(set) var faults: [String: ConfigurationProblem] = [:]
    private let bytes: [UInt8]

    package init(bytes: [UInt8]) {
        self.bytes = bytes
        let document = INIDocument(bytes: bytes)
        problems = document.problems
        // A section in parts is one: it is read where it begins.
        var seen: Set<String> = []
        for section in document.sections where seen.insert(section.name).inserted {
            guard Destination.isName(section.name) else {
                problems.append(
                    ConfigurationProblem(
                        line: section.line, "[\(section.name)] is no name: use letters, digits, dots, dashes"))
                continue
            }
            if let destination = read(document.entries(in: section.name), section) { destinations.append(destination) }
        }
        for entry in document.entries(in: nil) {
            problems.append(
                ConfigurationProblem(line: entry.line, "\(entry.key) stands above the first [name]: move it"))
        }
        problems.sort { $0.line < $1.line }
        for problem in problems.reversed() {
            if let section = document.section(ofLine: problem.line) { faults[section] = problem }
        }
    }

    /// The one with this name.
    package subscript(name: String) -> Destination? { destinations.first { $0.name == name } }

    private mutating func read(_ entries: [INIDocument.Entry], _ section: INIDocument.Section) -> Destination? {
        var destination = Destination(name: section.name, url: "")
        for entry in entries {
            guard let key = DestinationKey.all.first(where: { $0.name == entry.key }) else {
                let nearest = Suggestion.nearest(to: entry.key, among: DestinationKey.all.map(\.name))
                let remedy = nearest.map { "is it \($0)?" } ?? "remove it"
                problems.append(
                    ConfigurationProblem(line: entry.line, "\(entry.key) is no key of a destination: \(remedy)"))
                continue
            }
            if !key.read(entry.value, &destination) {
                problems.append(
                    ConfigurationProblem(
                        line: entry.line,
                        "\(entry.key): \"\(ShownAddress.of(entry.value))\" is not allowed: give \(key.allowed)"))
            }
        }
        guard !destination.url.isEmpty else {
            problems.append(ConfigurationProblem(line: section.line, "[\(section.name)] has no url: write url = …"))
            return nil
        }
        return destination
    }

    // MARK: Changing it

    /// The file with one more section, or with another one in the place of the one of the same name. What would not be read
    /// as it was meant is refused, and with it what would break the sections behind it: a value with a line break.
    package func setting(_ destination: Destination) throws(UnwritableDestination) -> [UInt8] {
        let alone = DestinationsFile(bytes: Array(Self.section(destination).utf8))
        guard alone.destinations == [destination], alone.problems.isEmpty else {
            throw UnwritableDestination(destination)
        }
        var text = Self.withEnd(self[destination.name] == nil ? bytes : removing(destination.name))
        if !text.isEmpty { text.append(UInt8(ascii: "\n")) }
        return text + Array(Self.section(destination).utf8)
    }

    /// The file without a section.
    package func removing(_ name: String) -> [UInt8] {
        var kept: [[UInt8]] = []
        let document = INIDocument(bytes: bytes)
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let isInside = document.section(ofLine: index + 1) == name
            let isComment = line.first { $0 != 0x20 && $0 != 0x09 }.map { $0 == 0x23 || $0 == 0x3B } ?? false
            if !isInside || isComment { kept.append(Array(line)) }
        }
        return Array(kept.joined(separator: [UInt8(ascii: "\n")]))
    }

    /// The text of a section by itself.
    static func section(_ destination: Destination) -> String {
        let lines = DestinationKey.all.compactMap { key in
            key.written(destination).map { "\(key.name) = \($0)\n" }
        }
        return "[\(destination.name)]\n" + lines.joined()
    }

    private static func withEnd(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        while let last = bytes.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: " ") { bytes.removeLast() }
        return bytes.isEmpty ? [] : bytes + [UInt8(ascii: "\n")]
    }
}
