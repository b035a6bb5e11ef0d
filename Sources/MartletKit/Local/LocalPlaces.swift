import LinuxSystem

/// Folders that a person goes to: home, the root, mounted disks, the desktop's bookmarks.
package struct LocalPlaces: Hashable, Sendable {
    package var home: [UInt8]
    /// Disks under `/media`, `/mnt` and `/run/media`, in the order in which they were mounted.
    package var mounts: [[UInt8]] = []
    package var bookmarks: [[UInt8]] = []

    package init(home: [UInt8], mounts: [[UInt8]] = [], bookmarks: [[UInt8]] = []) {
        self.home = home
        self.mounts = mounts
        self.bookmarks = bookmarks
    }

    /// Asks the kernel and the desktop's files; blocks on the disk.
    package static func look(home: [UInt8]) -> LocalPlaces {
        LocalPlaces(
            home: home, mounts: mounts(in: SmallFile.contents("/proc/self/mountinfo") ?? []),
            bookmarks: bookmarks(in: SmallFile.contents(home + Array("/.config/gtk-3.0/bookmarks".utf8)) ?? []))
    }

    /// All of them, each once.
    package var all: [[UInt8]] {
        var seen: Set<[UInt8]> = []
        return ([home, Array("/".utf8)] + mounts + bookmarks).filter { !$0.isEmpty && seen.insert($0).inserted }
    }

    /// The fifth field of mountinfo (proc(5)), where it is a place for disks that come and go.
    static func mounts(in table: [UInt8]) -> [[UInt8]] {
        let roots = ["/media/", "/mnt/", "/run/media/"].map { Array($0.utf8) }
        return table.split(separator: 0x0A).compactMap { line in
            let fields = line.split(separator: 0x20)
            guard fields.count > 4 else { return nil }
            let path = unescaped(fields[4])
            return path == Array("/mnt".utf8) || roots.contains { path.starts(with: $0) } ? path : nil
        }
    }

    /// Lines of a file URL and perhaps a name for it.
    static func bookmarks(in file: [UInt8]) -> [[UInt8]] {
        let scheme = Array("file://".utf8)
        return file.split(separator: 0x0A).compactMap { line in
            let url = line.prefix { $0 != 0x20 }
            guard url.starts(with: scheme) else { return nil }
            let path = PercentText.decoded(url.dropFirst(scheme.count))
            return path.first == UInt8(ascii: "/") && !path.contains(0) ? path : nil
        }
    }

    /// Blanks and backslashes are written as `\040` there.
    private static func unescaped(_ field: ArraySlice<UInt8>) -> [UInt8] {
        var path: [UInt8] = []
        var rest = field
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            let isOctal =
                digits.count == 3 && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) }
            if byte == UInt8(ascii: "\\"), isOctal, let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                path.append(value)
                rest = rest.dropFirst(3)
            } else {
                path.append(byte)
            }
        }
        return path
    }
}
