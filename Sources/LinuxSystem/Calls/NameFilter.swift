import Glibc

/// Selects the names that a walk takes, by shell patterns; exclude wins. Each part of a pattern means what `fnmatch` takes it for.
///
/// A pattern without a slash means the base name, in whatever folder; one with slashes the path below the source, with or without the source's
/// own name (by its letters, not by a wildcard), or a slash, in front. `**` is any number of folders, none included, and at the end all that
/// is below. A slash at the end means folders alone, with all that is in them.
package struct NameFilter: Sendable {
    private let include: [Pattern]
    private let exclude: [Pattern]
    /// The name under which the folder that is walked arrives; empty: it has none.
    private var source: [[CChar]] = []

    package init(include: [String] = [], exclude: [String] = []) {
        self.include = include.map { Pattern($0) }
        self.exclude = exclude.map { Pattern($0) }
    }

    /// The same patterns, for a walk through a folder that arrives under that name; empty: its contents arrive without one.
    package func of(source: [UInt8]) -> NameFilter {
        var filter = self
        filter.source = source.isEmpty ? [] : [Self.terminated(source[...])]
        return filter
    }

    /// There is no pattern.
    package var takesAll: Bool { include.isEmpty && exclude.isEmpty }

    /// Returns true when a file is queued.
    /// - Parameter folder: below the source; empty for what is in it.
    package func takes(file name: [UInt8], in folder: [UInt8]) -> Bool {
        if takesAll { return true }
        let path = Self.path(name, in: folder)
        return (include.isEmpty || include.contains { $0.takes(file: path, of: source) })
            && !exclude.contains { $0.takes(file: path, of: source) }
    }

    /// Returns true when a directory is walked. Include patterns do not count here: the files that they want may lie below.
    package func enters(directory name: [UInt8], in folder: [UInt8]) -> Bool {
        if exclude.isEmpty { return true }
        let path = Self.path(name, in: folder)
        return !exclude.contains { $0.means(path[...], of: source) }
    }

    /// The names of a path, each as C has it.
    private static func path(_ name: [UInt8], in folder: [UInt8]) -> [[CChar]] {
        folder.split(separator: UInt8(ascii: "/")).map { terminated($0) } + [terminated(name[...])]
    }

    fileprivate static func terminated(_ bytes: ArraySlice<UInt8>) -> [CChar] {
        bytes.map { CChar(bitPattern: $0) } + [0]
    }
}

private struct Pattern: Sendable {
    private enum Part {
        /// For `fnmatch`.
        case name([CChar])
        /// `**`
        case folders
    }

    private let parts: [Part]
    /// It means the base name, wherever that is.
    private let isName: Bool
    private let meansFolders: Bool
    /// The first part can be the name of a source: it has no wildcard.
    private let beginsByLetters: Bool

    init(_ text: String) {
        let slash = UInt8(ascii: "/")
        let bytes = Array(text.utf8)
        meansFolders = bytes.count > 1 && bytes.last == slash
        let names = bytes.split(separator: slash)
        isName = names.count <= 1 && bytes.first != slash
        beginsByLetters = names.first.map { Self.isByLetters($0) } ?? false
        parts = names.map { name in
            name.elementsEqual("**".utf8) ? .folders : .name(NameFilter.terminated(name))
        }
    }

    func takes(file path: [[CChar]], of source: [[CChar]]) -> Bool {
        if !meansFolders { return means(path[...], of: source) }
        return path.indices.dropFirst().contains { means(path[..<$0], of: source) }
    }

    func means(_ path: ArraySlice<[CChar]>, of source: [[CChar]]) -> Bool {
        matches(path) || !isName && beginsByLetters && !source.isEmpty && matches((source + path)[...])
    }

    /// Returns true when `fnmatch` takes each character for itself.
    private static func isByLetters(_ name: ArraySlice<UInt8>) -> Bool {
        var isEscaped = false
        for byte in name {
            if !isEscaped, "*?[".utf8.contains(byte) { return false }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        }
        return true
    }

    /// As a star among letters, `**` first takes nothing and then ever more, and only the last one has to be taken back.
    private func matches(_ path: ArraySlice<[CChar]>) -> Bool {
        if isName, case .name(let name)? = parts.first {
            return path.last.map { fnmatch(name, $0, 0) == 0 } ?? false
        }
        var (part, place) = (0, path.startIndex)
        var star: (part: Int, place: Int)?
        while place < path.endIndex {
            if part < parts.count, case .folders = parts[part] {
                star = (part, place)
                part += 1
                // At the end it is what is below, one name at least.
                if part == parts.count { return true }
                continue
            }
            if part < parts.count, case .name(let name) = parts[part], fnmatch(name, path[place], 0) == 0 {
                (part, place) = (part + 1, place + 1)
                continue
            }
            guard let last = star else { return false }
            star = (last.part, last.place + 1)
            (part, place) = (last.part + 1, last.place + 1)
        }
        return part == parts.count
    }
}
