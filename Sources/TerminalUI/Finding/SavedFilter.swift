import Configuration
import DisplayText
import MartletKit

/// A filter with a name of its own, from `filters.conf`.
package struct SavedFilter: Hashable, Sendable {
    package var name: String
    package var text: String

    package init(name: String, text: String) {
        self.name = name
        self.text = text
    }

    /// The file as a whole with another text of one filter, or (`nil`) without it.
    /// - Parameter bytes: the file as it is now: other screens write it, too.
    static func file(_ bytes: [UInt8], changing name: String, to text: String?) -> [UInt8] {
        var filters = INIDocument(bytes: bytes).entries.map { SavedFilter(name: $0.key, text: $0.value) }
        filters.removeAll { $0.name == name }
        if let text { filters.append(SavedFilter(name: name, text: text)) }
        let head = "# Filters of martlet's screen by name; :save NAME and :forget NAME write them.\n"
        return Array((head + filters.map { "\($0.name) = \($0.text)\n" }.joined()).utf8)
    }
}

extension Model {
    /// `NAME` for the filter that is on, or `NAME FILTER`.
    mutating func saveFilter(_ rest: String) {
        let name = String(rest.prefix { !$0.isWhitespace })
        let given = String(rest.dropFirst(name.count)).trimmed
        let isName =
            !name.isEmpty
            && name.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || "0123456789-_".unicodeScalars.contains($0)
            }
        guard isName else { return complain("A filter's name is a word of letters, digits and dashes.") }
        guard let text = given.isEmpty ? filters.shown?.text : given else {
            return complain("No filter is on: type  save \(appearance.safe(name)) FILTER")
        }
        guard (try? TransferFilter(text)) != nil else {
            return complain("\"\(appearance.safe(text))\" cannot be read.")
        }
        filters.saved.removeAll { $0.name == name }
        filters.saved.append(SavedFilter(name: name, text: text))
        requests.append(.changeFilter(name, to: text))
        say("Saved \"\(appearance.safe(text))\" as \(appearance.safe(name)).")
    }

    mutating func forgetFilter(_ name: String) {
        guard filters.saved.contains(where: { $0.name == name }) else {
            let names = filters.saved.map(\.name).joined(separator: ", ")
            return complain(
                names.isEmpty
                    ? "No filter is saved."
                    : "There is no filter \(appearance.safe(name)): there are \(appearance.safe(names)).")
        }
        filters.saved.removeAll { $0.name == name }
        requests.append(.changeFilter(name, to: nil))
        say("Forgot the filter \(appearance.safe(name)).")
    }
}

extension Model {
    /// The engine counts for as many filters as it has views to spare.
    private static let mostCounted = 9

    /// Saved filters, and the one a question is about, are counted as long as somebody looks at them.
    mutating func askForCounts() {
        let looked =
            commandPrompt == nil
            ? []
            : filters.saved.map(\.text).filter {
                (try? TransferFilter($0))?.asksForMarks == false
            }.prefix(Self.mostCounted).map(\.self)
        let wanted = isConnected ? questionedFilter.map { [$0] } ?? looked : []
        guard wanted != filters.counted else { return }
        filters.counted = wanted
        filters.counts = filters.counts.filter { wanted.contains($0.key) }
        requests.append(.count(wanted))
    }

    /// `1,206 files  @err 403`; while they are being counted `1,206+ files`.
    func detail(of filter: SavedFilter) -> SafeText {
        guard let count = filters.counts[filter.text] else { return appearance.safe(filter.text) }
        let number = Figures.count(count.matched) + (count.complete ? "" : "+")
        return SafeText("\(number) \(count.matched == 1 && count.complete ? "file" : "files")  ")
            + appearance.safe(filter.text)
    }
}
