import TransferModel
import WireOperations

/// The packets of requests.
enum RequestPackets {
    static func initialise() -> [UInt8] { PacketWriter(PacketType.initialise, id: 3).packet() }

    static func limits(_ id: UInt32) -> [UInt8] { extended(id, "limits@openssh.com").packet() }

    static func makeFolder(_ id: UInt32, _ path: RawPath) -> [UInt8] {
        var packet = PacketWriter(PacketType.makeFolder, id: id)
        packet.append(path.bytes)
        packet.append(UInt32(0))
        return packet.packet()
    }

    static func status(_ id: UInt32, _ path: RawPath) -> [UInt8] { named(PacketType.status, id, path.bytes) }

    static func close(_ id: UInt32, _ handle: [UInt8]) -> [UInt8] { named(PacketType.close, id, handle) }

    static func read(_ id: UInt32, _ handle: [UInt8], _ piece: Range<Int64>) -> [UInt8] {
        var packet = PacketWriter(PacketType.read, id: id)
        packet.append(handle)
        packet.append(UInt64(piece.lowerBound))
        packet.append(UInt32(piece.upperBound - piece.lowerBound))
        return packet.packet()
    }

    /// A WRITE without its data.
    static func write(_ id: UInt32, _ handle: [UInt8], at offset: Int64, _ count: Int) -> [UInt8] {
        var packet = PacketWriter(PacketType.write, id: id)
        packet.append(handle)
        packet.append(UInt64(offset))
        packet.append(UInt32(count))
        return packet.packet(extra: count)
    }

    /// Length, type, number, handle, offset, length of the data.
    static func writeHeadLength(_ handle: [UInt8]) -> Int { 4 + 1 + 4 + 4 + handle.count + 8 + 4 }

    /// A request that is one packet. `handle` is the server's name of the file that the request is about.
    static func single(_ id: UInt32, _ request: SFTPOperation, handle: [UInt8]) -> [UInt8]? {
        switch request {
        case .openForWriting(let path): return open(id, path, OpenFlag.write | OpenFlag.create)
        case .openForReading(let path): return open(id, path, OpenFlag.read)
        case .status(let path): return status(id, path)
        case .handleStatus: return named(PacketType.handleStatus, id, handle)
        case .setSize(_, let size):
            var packet = PacketWriter(PacketType.setHandleStatus, id: id)
            packet.append(handle)
            packet.append(AttributeFlag.size)
            packet.append(UInt64(max(0, size)))
            return packet.packet()
        case .setModified(_, let seconds):
            var packet = PacketWriter(PacketType.setHandleStatus, id: id)
            packet.append(handle)
            packet.append(AttributeFlag.times)
            // Of access and of modification.
            packet.append(UInt32(clamping: seconds))
            packet.append(UInt32(clamping: seconds))
            return packet.packet()
        case .sync:
            var packet = extended(id, "fsync@openssh.com")
            packet.append(handle)
            return packet.packet()
        case .close: return close(id, handle)
        case .openFolder(let path):
            return named(PacketType.openFolder, id, path.bytes.isEmpty ? [UInt8(ascii: ".")] : path.bytes)
        case .readFolder: return named(PacketType.readFolder, id, handle)
        case .rename(let old, let new, let replaces):
            var packet =
                replaces ? extended(id, "posix-rename@openssh.com") : PacketWriter(PacketType.rename, id: id)
            packet.append(old.bytes)
            packet.append(new.bytes)
            return packet.packet()
        case .remove(let path): return named(PacketType.remove, id, path.bytes)
        case .freeSpace(let path):
            var packet = extended(id, "statvfs@openssh.com")
            packet.append(path.bytes)
            return packet.packet()
        case .write, .read, .makeFolders: return nil
        }
    }

    private static func open(_ id: UInt32, _ path: RawPath, _ flags: UInt32) -> [UInt8] {
        var packet = PacketWriter(PacketType.open, id: id)
        packet.append(path.bytes)
        packet.append(flags)
        // No attributes: the server's umask decides.
        packet.append(UInt32(0))
        return packet.packet()
    }

    private static func named(_ type: UInt8, _ id: UInt32, _ string: [UInt8]) -> [UInt8] {
        var packet = PacketWriter(type, id: id)
        packet.append(string)
        return packet.packet()
    }

    private static func extended(_ id: UInt32, _ name: String) -> PacketWriter {
        var packet = PacketWriter(PacketType.extended, id: id)
        packet.append(name)
        return packet
    }
}

/// The answer of `statvfs@openssh.com`: eleven numbers.
enum FreeSpaceReply {
    /// Bytes that an ordinary user may still write; `nil` for what is no such answer.
    static func parse(_ reply: [UInt8]) -> Int64? {
        reply.withUnsafeBytes { bytes in
            var reader = PacketReader(bytes)
            var numbers: [UInt64] = []
            while numbers.count < 5, let number = reader.number64() { numbers.append(number) }
            guard numbers.count == 5 else { return nil }
            // f_frsize times f_bavail.
            let (product, overflow) = numbers[1].multipliedReportingOverflow(by: numbers[4])
            return overflow ? Int64.max : Int64(clamping: product)
        }
    }
}
