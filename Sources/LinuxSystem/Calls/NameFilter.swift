import Glibc

/// Selects the names that a walk takes, by shell patterns over the path below the source and over the base name; exclude wins.
/// Corresponds to `fnmatch`.
package struct NameFilter: Sendable {
    private let include: [[CChar]]
    private let exclude: [[CChar]]

    package init(include: [String] = [], exclude: [String] = []) {
        self.include = include.map { Array($0.utf8CString) }
        self.exclude = exclude.map { Array($0.utf8CString) }
    }

    /// There is no pattern.
    package var takesAll: Bool { include.isEmpty && exclude.isEmpty }

    /// Returns true when a file is queued.
    /// - Parameter folder: below the source; empty for what is in it.
    package func takes(file name: [UInt8], in folder: [UInt8]) -> Bool {
        if takesAll { return true }
        let (base, path) = Self.names(name, in: folder)
        return (include.isEmpty || Self.matches(include, base, path)) && !Self.matches(exclude, base, path)
    }

    /// Returns true when a directory is walked. Include patterns do not count here: the files that they want may lie below.
    package func enters(directory name: [UInt8], in folder: [UInt8]) -> Bool {
        if exclude.isEmpty { return true }
        let (base, path) = Self.names(name, in: folder)
        return !Self.matches(exclude, base, path)
    }

    private static func names(_ name: [UInt8], in folder: [UInt8]) -> ([CChar], [CChar]) {
        let path = folder.isEmpty ? name : folder + [UInt8(ascii: "/")] + name
        return (name.map { CChar(bitPattern: $0) } + [0], path.map { CChar(bitPattern: $0) } + [0])
    }

    private static func matches(_ patterns: [[CChar]], _ base: [CChar], _ path: [CChar]) -> Bool {
        patterns.contains { pattern in
            fnmatch(pattern, base, 0) == 0 || fnmatch(pattern, path, FNM_PATHNAME) == 0
        }
    }
}
