package import TransferModel

/// Names of temporary files at servers: beside the target, hidden, and told apart by the task's token.
package enum TemporaryName {
    /// The suffix of all these names: `martlet leftovers` looks for it.
    package static let suffix = ".martlet-part"
    /// File systems take names of 255 bytes; Nextcloud takes 250 and others fewer, and a file's own name may be that long.
    private static let longest = 240

    /// `folder/NAME` becomes `folder/.NAME.TOKEN8.martlet-part`, from the second generation on `….TOKEN8-2.martlet-part`.
    /// A long name is cut, at the start of a character.
    package static func beside(_ path: RawPath, token: String, generation: Int = 1) -> RawPath {
        let start = path.bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        let number = generation == 1 ? "" : "-\(generation)"
        let tail = Array(".\(token.prefix(8))\(number)\(suffix)".utf8)
        let name = cut(Array(path.bytes[start...]), for: tail.count + 1)
        return RawPath(Array(path.bytes[..<start]) + [UInt8(ascii: ".")] + name + tail)
    }

    /// A name with room for so many bytes more; a long one is cut, at the start of a character.
    package static func cut(_ name: [UInt8], for room: Int) -> [UInt8] {
        guard name.count + room > longest else { return name }
        var name = name.prefix(longest - room)
        while let last = name.last, last & 0xC0 == 0x80 { name.removeLast() }
        if let last = name.last, last >= 0xC0 { name.removeLast() }
        return Array(name)
    }
}
