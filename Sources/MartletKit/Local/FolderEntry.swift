import Glibc
import LinuxSystem

/// One name of a local folder, as a person who picks files sees it.
package struct FolderEntry: Hashable, Sendable {
    /// The kind of entry, which says what can be done with it.
    package enum Kind: Hashable, Sendable {
        case folder
        case file
        /// A device, a socket, a pipe: it cannot be sent.
        case other
    }

    /// The name's bytes, not necessarily UTF-8.
    package var name: [UInt8]
    /// The kind of the entry; for a link that of its target.
    package var kind: Kind
    package var isLink: Bool
    /// The size of a file, in bytes.
    package var size: Int64?
    /// Seconds since 1970.
    package var modified: Int64?
    package var isReadable: Bool

    package init(
        name: [UInt8], kind: Kind, isLink: Bool = false, size: Int64? = nil, modified: Int64? = nil,
        isReadable: Bool = true
    ) {
        self.name = name
        self.kind = kind
        self.isLink = isLink
        self.size = size
        self.modified = modified
        self.isReadable = isReadable
    }

    /// Its name begins with a dot.
    package var isHidden: Bool { name.first == UInt8(ascii: ".") }

    /// Looks at a name of an open folder.
    init(_ found: DirectoryEntry, in folder: Int32) {
        let status = try? System.fstatat(folder, found.name, followingLinks: true)
        let isLink = found.kind == .symbolicLink
        let kind: Kind =
            switch status?.kind ?? found.kind {
            case .directory: .folder
            case .regular: .file
            default: .other
            }
        let isReadable = Self.isReadable(found.name, in: folder, asFolder: kind == .folder)
        self.init(
            name: found.name, kind: kind, isLink: isLink, size: kind == .file ? status?.size : nil,
            modified: status.map { $0.modifiedNanoseconds / 1_000_000_000 }, isReadable: isReadable)
    }

    /// faccessat(2): whether this person may read it; a folder also has to be entered.
    static func isReadable(_ name: [UInt8], in folder: Int32, asFolder: Bool) -> Bool {
        (name + [0]).withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                guard let path = text.baseAddress else { return false }
                return faccessat(folder, path, asFolder ? R_OK | X_OK : R_OK, 0) == 0
            }
        }
    }
}

/// In which order a folder is shown. Folders always stand before files.
package struct FolderOrder: Hashable, Sendable {
    package enum Key: String, Hashable, Sendable, CaseIterable {
        case name, size, modified
    }

    package var key: Key
    /// The last first.
    package var isReversed: Bool

    package init(_ key: Key = .name, reversed: Bool = false) {
        self.key = key
        isReversed = reversed
    }

    /// True when `one` stands before `other`. A total order: names in a folder differ.
    package func places(_ one: FolderEntry, before other: FolderEntry) -> Bool {
        if (one.kind == .folder) != (other.kind == .folder) { return one.kind == .folder }
        switch key {
        case .size where one.size != other.size:
            // The largest first: that is what is looked for.
            return ((one.size ?? -1) > (other.size ?? -1)) != isReversed
        case .modified where one.modified != other.modified:
            return ((one.modified ?? .min) > (other.modified ?? .min)) != isReversed
        case .name: return Self.places(one.name, before: other.name) != isReversed
        case .size, .modified: return Self.places(one.name, before: other.name)
        }
    }

    /// Small and capital letters stand together; names that differ in nothing else are told apart by their bytes.
    static func places(_ one: [UInt8], before other: [UInt8]) -> Bool {
        let count = min(one.count, other.count)
        return one.withUnsafeBufferPointer { one in
            other.withUnsafeBufferPointer { other in
                for index in 0..<count {
                    let (left, right) = (folded(one[index]), folded(other[index]))
                    if left != right { return left < right }
                }
                if one.count != other.count { return one.count < other.count }
                for index in 0..<count where one[index] != other[index] { return one[index] < other[index] }
                return false
            }
        }
    }

    private static func folded(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
