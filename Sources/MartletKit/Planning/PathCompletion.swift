import LinuxSystem

/// The completion of a path that is being typed, as by a shell's Tab.
package struct PathCompletion: Hashable, Sendable {
    /// The path as far as it is certain, in place of what was typed; a directory ends in a slash.
    package var path: [UInt8]
    /// The number of names that fit; with 1 it is complete.
    package var candidates: Int

    package init(path: [UInt8], candidates: Int) {
        self.path = path
        self.candidates = candidates
    }

    /// Reads the directory; `nil` when it cannot be read. Hidden names fit only when a dot was typed.
    package init?(of word: [UInt8], currentDirectory: [UInt8]) {
        let slash = UInt8(ascii: "/")
        let begin = word.lastIndex(of: slash).map { $0 + 1 } ?? 0
        let (folder, prefix) = (Array(word[..<begin]), word[begin...])
        let place = SourcePath.absolute(folder, from: currentDirectory).bytes
        guard let reader = try? DirectoryReader(path: place) else { return nil }
        var common: [UInt8]?
        var count = 0
        while let entry = try? reader.next() {
            let isHidden = entry.name.first == UInt8(ascii: ".")
            guard entry.name.starts(with: prefix), !isHidden || prefix.first == UInt8(ascii: ".") else { continue }
            count += 1
            common = common.map { Self.common($0, entry.name) } ?? entry.name
        }
        guard let common else {
            self.init(path: word, candidates: 0)
            return
        }
        let path = folder + common
        let isDirectory = count == 1 && (try? System.stat(place + [slash] + common))?.kind == .directory
        self.init(path: isDirectory ? path + [slash] : path, candidates: count)
    }

    private static func common(_ one: [UInt8], _ other: [UInt8]) -> [UInt8] {
        Array(zip(one, other).prefix { $0 == $1 }.map(\.0))
    }
}
