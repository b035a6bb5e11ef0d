import TransferModel

/// Bytes that look random and are the same in every run (SplitMix64): no two places of a file, and no two files, are alike.
struct SeededBytes {
    private var state: UInt64

    // The seed is mixed first: neighbouring seeds would otherwise give one stream, shifted.
    init(seed: UInt64) { state = Self.mix(seed &+ 0x1234_5678_9ABC_DEF1) }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mix(state)
    }

    private static func mix(_ word: UInt64) -> UInt64 {
        var mixed = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// `count` bytes that belong to `seed`.
    static func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
        var generator = SeededBytes(seed: seed)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            var offset = 0
            while offset < count {
                var word = generator.next()
                let length = min(8, count - offset)
                withUnsafeBytes(of: &word) { source in
                    for index in 0..<length { buffer[offset + index] = source[index] }
                }
                offset += length
            }
            filled = count
        }
    }
}

extension SeededBytes {
    /// Much faster for many bytes: a block that is made once, repeated, with words of its own at every 256th byte: no two places are alike
    /// that lie further apart than that.
    static func stamped(_ count: Int, seed: UInt64) -> [UInt8] {
        var generator = SeededBytes(seed: seed)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            var offset = 0
            while offset < count {
                let length = min(block.count, count - offset)
                block.withUnsafeBytes { source in
                    bytes.baseAddress?.advanced(by: offset).copyMemory(from: source.baseAddress!, byteCount: length)
                }
                offset += length
            }
            var place = 0
            while place + 8 <= count {
                bytes.storeBytes(of: generator.next(), toByteOffset: place, as: UInt64.self)
                place += 256
            }
            if count < 8 { for index in 0..<count { buffer[index] = UInt8(truncatingIfNeeded: generator.next()) } }
            filled = count
        }
    }

    private static let block = bytes(1 << 16, seed: 1)
}

/// A tree of files on disk, made for one test.
struct FileTree {
    let root: RawPath
    let count: Int
    let bytes: Int64

    var path: String { root.displayed }

    /// `count` files in folders: empty ones, some of several 100 kB, and names with spaces, in Japanese, that are not UTF-8, and with characters
    /// that mean something in a URL.
    ///
    /// - Parameter onlyText: every name is UTF-8.
    static func make(
        at path: String, count: Int, seed: UInt64, largest: Int = 400_000, onlyText: Bool = false
    ) throws -> FileTree {
        let special: [[UInt8]] = [
            Array("a name with  spaces".utf8),
            Array("日本語の名前.txt".utf8),
            Array("latin-1 caf".utf8) + (onlyText ? Array("é".utf8) : [0xE9]),
            Array("100%25 #1?a=b&c;d+e.txt".utf8),
            Array("'quoted' \"twice\".txt".utf8),
            Array("-leading dash".utf8),
        ]
        var generator = SeededBytes(seed: seed)
        let root = RawPath(path)
        var sum: Int64 = 0
        makeFolder(root)
        for index in 0..<count {
            let size: Int
            switch index % 10 {
            case 0: size = 0
            case 1: size = 1
            case 9: size = largest - Int(generator.next() % 1000)
            default: size = Int(generator.next() % 30_000)
            }
            let folder = root.appending(RawPath("folder \(index % 7)/deeper-\(index % 3)"))
            let name = index < special.count ? RawPath(special[index]) : RawPath("file-\(index).bin")
            try write(SeededBytes.stamped(size, seed: seed &+ UInt64(index) &* 7919), to: folder.appending(name))
            sum += Int64(size)
        }
        return FileTree(root: root, count: count, bytes: sum)
    }

    /// Files of one size, all in one folder: `0.bin`, `1.bin`, …
    static func make(at path: String, files: Int, each size: Int, seed: UInt64 = 1) throws -> FileTree {
        makeFolder(RawPath(path))
        for index in 0..<files {
            try write(
                SeededBytes.bytes(size, seed: seed &+ UInt64(index) &* 104_729), to: RawPath("\(path)/\(index).bin"))
        }
        return FileTree(root: RawPath(path), count: files, bytes: Int64(files * size))
    }
}
