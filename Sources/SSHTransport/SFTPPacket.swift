/// Types of SFTP version 3 packets (draft-ietf-secsh-filexfer-02 section 3).
enum PacketType {
    static let initialise: UInt8 = 1
    static let version: UInt8 = 2
    static let open: UInt8 = 3
    static let close: UInt8 = 4
    static let read: UInt8 = 5
    static let write: UInt8 = 6
    static let handleStatus: UInt8 = 8
    static let setHandleStatus: UInt8 = 10
    static let openFolder: UInt8 = 11
    static let readFolder: UInt8 = 12
    static let remove: UInt8 = 13
    static let makeFolder: UInt8 = 14
    static let status: UInt8 = 17
    static let rename: UInt8 = 18
    static let statusAnswer: UInt8 = 101
    static let handle: UInt8 = 102
    static let data: UInt8 = 103
    static let names: UInt8 = 104
    static let attributes: UInt8 = 105
    static let extended: UInt8 = 200
    static let extendedReply: UInt8 = 201
}

enum OpenFlag {
    static let read: UInt32 = 1
    static let write: UInt32 = 2
    static let create: UInt32 = 8
}

enum AttributeFlag {
    static let size: UInt32 = 1
    static let owner: UInt32 = 2
    static let permissions: UInt32 = 4
    static let times: UInt32 = 8
    static let extended: UInt32 = 0x8000_0000
}

/// Builds one packet: length, type, and what is appended.
struct PacketWriter {
    private(set) var bytes: [UInt8]

    /// A request with its number, or INIT, whose number is the version.
    init(_ type: UInt8, id: UInt32) {
        bytes = [0, 0, 0, 0, type]
        bytes.reserveCapacity(64)
        append(id)
    }

    mutating func append(_ number: UInt32) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ number: UInt64) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// A string: its length and its bytes.
    mutating func append(_ string: [UInt8]) {
        append(UInt32(clamping: string.count))
        bytes.append(contentsOf: string)
    }

    mutating func append(_ string: String) { append(Array(string.utf8)) }

    /// The packet, with its length put in front; `extra` bytes follow that are not in it.
    func packet(extra: Int = 0) -> [UInt8] {
        var packet = bytes
        let length = UInt32(clamping: bytes.count - 4 + extra)
        withUnsafeBytes(of: length.bigEndian) { packet.replaceSubrange(0..<4, with: $0) }
        return packet
    }
}

/// Reads a packet's parts; `nil` wherever it ends too early. Never traps, whatever a peer sent.
struct PacketReader {
    private var rest: UnsafeRawBufferPointer

    /// Valid as long as the bytes are.
    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8? {
        guard let first = rest.first else { return nil }
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst())
        return first
    }

    mutating func number32() -> UInt32? {
        guard let bytes = take(4) else { return nil }
        return UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))
    }

    mutating func number64() -> UInt64? {
        guard let bytes = take(8) else { return nil }
        return UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
    }

    /// A string's bytes, where they stand.
    mutating func string() -> UnsafeRawBufferPointer? {
        guard let length = number32() else { return nil }
        return take(Int(length))
    }

    private mutating func take(_ count: Int) -> UnsafeRawBufferPointer? {
        if rest.count < count { return nil }
        let taken = UnsafeRawBufferPointer(rebasing: rest.prefix(count))
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        return taken
    }
}
