import DisplayText

/// The text of a configuration file, taken apart and not yet understood.
///
/// The format is INI as rclone writes it: `key = value`, `[section name]`, comments on lines of their own, or behind a
/// section's name, that begin with `#` or `;`. Lines may have any length, and a value is kept to the letter, ` ;` and `#`
/// included; only the blanks around it go. Nothing in a file can make the reader fail: what it cannot read becomes a
/// ``ConfigurationProblem`` that names the line, and the other lines count, but for those below a section whose name
/// cannot be read: nobody knows whose they are.
package struct INIDocument: Equatable, Sendable {
    /// A way to write such files.
    package enum Dialect: Sendable {
        case own
        /// As AWS's tools read theirs: a line that is indented deeper than the key above it belongs to that (`endpoint_url` below `s3 =` is the
        /// key `s3.endpoint_url`), `:` stands for `=`, and keys are in lower case however they are written.
        case aws
    }

    /// One `key = value`.
    package struct Entry: Equatable, Sendable {
        /// The section above it; `nil` before the first.
        package var section: String?
        package var key: String
        package var value: String
        /// Counted from 1.
        package var line: Int
    }

    /// One `[section name]`, also when nothing stands in it.
    package struct Section: Equatable, Sendable {
        package var name: String
        /// Counted from 1.
        package var line: Int
    }

    /// In the order of the file; a key given twice is here twice.
    package private(set) var entries: [Entry] = []
    /// In the order of the file.
    package private(set) var sections: [Section] = []
    /// Lines that are none of section, entry, comment and blank.
    package private(set) var problems: [ConfigurationProblem] = []
    private let dialect: Dialect
    /// Lines on which a section begins whose name cannot be read.
    private var unreadable: [Int] = []
    /// The places in `entries` of a section's entries, in their order, and of the last entry of a key. A file may have many thousands.
    private var ofSection: [String?: [Int]] = [:]
    private var lastOfKey: [String?: [String: Int]] = [:]

    /// Reads a file's bytes. A byte order mark and carriage returns at the ends of lines are left out.
    package init(bytes: [UInt8], _ dialect: Dialect = .own) {
        self.dialect = dialect
        var rest = bytes[...]
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        let lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        var above: [(depth: Int, key: String)]? = dialect == .aws ? [] : nil
        for (index, line) in lines.enumerated() {
            read(Self.trimmed(line), line: index + 1, depth: line.prefix(while: Self.isBlank).count, &above)
        }
    }

    /// Reads a file's text.
    package init(_ text: String, _ dialect: Dialect = .own) { self.init(bytes: Array(text.utf8), dialect) }

    /// The first section whose name cannot be read.
    package var unreadableSection: ConfigurationProblem? {
        unreadable.first.flatMap { line in problems.first { $0.line == line } }
    }

    /// The last value of a key, which is the one that counts.
    package func value(_ key: String, in section: String? = nil) -> String? {
        lastOfKey[section]?[key].map { entries[$0].value }
    }

    /// The entries of all parts of a section, in the order of the file; of `nil` those before the first section.
    package func entries(in section: String?) -> [Entry] { ofSection[section, default: []].map { entries[$0] } }

    /// - Parameters:
    ///   - depth: the number of blanks in front of it.
    ///   - above: the keys of the section that lines may belong to, from the outermost; `nil`: none nests.
    private mutating func read(
        _ line: ArraySlice<UInt8>, line number: Int, depth: Int, _ above: inout [(depth: Int, key: String)]?
    ) {
        guard let first = line.first, first != UInt8(ascii: "#"), first != UInt8(ascii: ";") else { return }
        guard line.allSatisfy({ $0 != 0 }), String(validating: line, as: UTF8.self) != nil else {
            if first == UInt8(ascii: "[") { unreadable.append(number) }
            problems.append(ConfigurationProblem(line: number, "is not UTF-8 text: write it again"))
            return
        }
        if first == UInt8(ascii: "[") {
            if above != nil { above = [] }
            return readSection(line, line: number)
        }
        while let last = above?.last, last.depth >= depth { above?.removeLast() }
        if let key = readEntry(line, number, below: above?.last?.key) { above?.append((depth, key)) }
    }

    private mutating func readSection(_ line: ArraySlice<UInt8>, line number: Int) {
        guard let name = Self.sectionName(line, dialect) else {
            unreadable.append(number)
            problems.append(
                ConfigurationProblem(
                    line: number, "is not a section: write [name] and nothing after it; what is below it does not count"
                ))
            return
        }
        sections.append(Section(name: name, line: number))
    }

    /// The name between the brackets, behind which a comment may stand, or for AWS's tools anything; `nil`: it cannot be read.
    private static func sectionName(_ line: ArraySlice<UInt8>, _ dialect: Dialect) -> String? {
        let bracket = UInt8(ascii: "]")
        guard let first = line.firstIndex(of: bracket) else { return nil }
        let behind = trimmed(line[(first + 1)...]).first
        let isComment = behind == UInt8(ascii: "#") || behind == UInt8(ascii: ";") || dialect == .aws
        guard behind == nil || isComment || line.last == bracket else { return nil }
        let end = behind == nil || isComment ? first : line.endIndex - 1
        let name = text(trimmed(line[(line.startIndex + 1)..<end]))
        return name.isEmpty ? nil : name
    }

    /// The section that a line belongs to; `nil`: it is above the first one, or below one whose name cannot be read.
    func section(ofLine line: Int) -> String? {
        func last<Element>(_ elements: [Element], _ place: (Element) -> Int) -> Element? {
            var (low, high) = (0, elements.count)
            while low < high {
                let middle = (low + high) / 2
                if place(elements[middle]) <= line { low = middle + 1 } else { high = middle }
            }
            return low == 0 ? nil : elements[low - 1]
        }
        guard let section = last(sections, \.line) else { return nil }
        return section.line > last(unreadable, { $0 }) ?? 0 ? section.name : nil
    }

    /// - Returns: the key; `nil`: the line does not count.
    private mutating func readEntry(_ line: ArraySlice<UInt8>, _ number: Int, below parent: String?) -> String? {
        let isSeparator = { [dialect] (byte: UInt8) in
            byte == UInt8(ascii: "=") || dialect == .aws && byte == UInt8(ascii: ":")
        }
        guard let equals = line.firstIndex(where: isSeparator), equals > line.startIndex else {
            problems.append(ConfigurationProblem(line: number, "is not a setting: write key = value"))
            return nil
        }
        if let lost = unreadable.last, lost > sections.last?.line ?? 0 { return nil }
        let (section, written) = (sections.last?.name, Self.text(Self.trimmed(line[..<equals])))
        let name = dialect == .aws ? written.lowercased() : written
        let key = parent.map { "\($0).\(name)" } ?? name
        ofSection[section, default: []].append(entries.count)
        lastOfKey[section, default: [:]][key] = entries.count
        entries.append(
            Entry(
                section: section, key: key, value: Self.text(Self.trimmed(line[(equals + 1)...])), line: number))
        return key
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var line = line
        while let first = line.first, isBlank(first) { line = line.dropFirst() }
        while let last = line.last, isBlank(last) { line = line.dropLast() }
        return line
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}

/// Something in a configuration file that does not count, and why. Never a reason not to start.
package struct ConfigurationProblem: Equatable, Sendable {
    /// Counted from 1.
    package var line: Int
    /// The problem of the line and its remedy, without the file's name and the line's number.
    package var message: String

    package init(line: Int, _ message: String) {
        self.line = line
        self.message = message
    }

    /// `martlet.conf line 7: …`; control characters as `\xNN`, because the file's text is quoted in it.
    package func description(file: String) -> String { "\(file) line \(line): \(message)".harmless }
}
