/// A message of the bus, as far as we send and understand them (D-Bus specification, "Message Protocol").
package struct BusMessage: Hashable, Sendable {
    package enum Kind: UInt8, Sendable {
        case call = 1
        case reply, error, signal
    }

    package var kind: Kind
    package var serial: UInt32
    package var replySerial: UInt32?
    package var errorName: String?
    /// The sender, as the bus names its connections.
    package var sender: String?
    package var body: [UInt8]
    var isBigEndian = false

    /// More than this nobody has to tell us.
    static let mostBytes = 1 << 20

    /// The error for bytes that are no message.
    package struct Malformed: Error, Hashable {}

    /// A call of a method, ready to be sent; little-endian.
    package static func call(
        _ member: String, of interface: String, at path: String, on destination: String, serial: UInt32,
        signature: String = "", body: [UInt8] = []
    ) -> [UInt8] {
        var header = BusWriter()
        header.bytes = [UInt8(ascii: "l"), Kind.call.rawValue, 0, 1]
        header.number(UInt32(body.count))
        header.number(serial)
        header.array(alignment: 8) { fields in
            func field(_ code: UInt8, _ type: String, _ value: (inout BusWriter) -> Void) {
                fields.align(8)
                fields.bytes.append(code)
                fields.signature(type)
                value(&fields)
            }
            field(1, "o") { $0.string(path) }
            field(2, "s") { $0.string(interface) }
            field(3, "s") { $0.string(member) }
            field(6, "s") { $0.string(destination) }
            if !signature.isEmpty { field(8, "g") { $0.signature(signature) } }
        }
        header.align(8)
        return header.bytes + body
    }

    /// Takes a whole message off the front of `bytes`; `nil`: it has not come completely yet.
    package static func take(from bytes: inout [UInt8]) throws(Malformed) -> BusMessage? {
        guard bytes.count >= 16 else { return nil }
        guard bytes[0] == UInt8(ascii: "l") || bytes[0] == UInt8(ascii: "B"), bytes[3] == 1 else { throw Malformed() }
        let isBig = bytes[0] == UInt8(ascii: "B")
        var fixed = BusReader(bytes[4..<16], isBigEndian: isBig)
        let (bodyLength, serial, fieldsLength) = (try fixed.number(), try fixed.number(), try fixed.number())
        let header = (16 + Int(fieldsLength) + 7) / 8 * 8
        guard header + Int(bodyLength) <= mostBytes else { throw Malformed() }
        guard bytes.count >= header + Int(bodyLength) else { return nil }
        // Kinds that are not known yet are to be ignored: they are none of ours.
        let kind = Kind(rawValue: bytes[1]) ?? .signal
        var message = BusMessage(
            kind: kind, serial: serial, body: Array(bytes[header..<(header + Int(bodyLength))]), isBigEndian: isBig)
        var fields = BusReader(bytes[16..<(16 + Int(fieldsLength))], isBigEndian: isBig)
        while !fields.isAtEnd {
            try fields.align(8)
            let code = try fields.byte()
            switch (code, try fields.signature()) {
            case (4, "s"): message.errorName = try fields.string()
            case (5, "u"): message.replySerial = try fields.number()
            case (7, "s"): message.sender = try fields.string()
            case (_, "s"), (_, "o"): _ = try fields.string()
            case (_, "u"): _ = try fields.number()
            case (_, "g"): _ = try fields.signature()
            default: throw Malformed()
            }
        }
        bytes.removeFirst(header + Int(bodyLength))
        return message
    }

    /// The strings of a body that is an array of them, as GetCapabilities answers.
    package func strings() throws(Malformed) -> [String] {
        var reader = BusReader(body[...], isBigEndian: isBigEndian)
        let length = Int(try reader.number())
        var strings: [String] = []
        let start = reader.offset
        while reader.offset - start < length { strings.append(try reader.string()) }
        return strings
    }

    private init(kind: Kind, serial: UInt32, body: [UInt8], isBigEndian: Bool) {
        (self.kind, self.serial, self.body, self.isBigEndian) = (kind, serial, body, isBigEndian)
    }
}

/// Values as they stand in a message: each at a multiple of its size.
struct BusWriter {
    var bytes: [UInt8] = []

    mutating func align(_ size: Int) { while bytes.count % size != 0 { bytes.append(0) } }

    mutating func number(_ value: UInt32) {
        align(4)
        for shift in [0, 8, 16, 24] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    mutating func string(_ text: String) {
        number(UInt32(text.utf8.count))
        bytes += Array(text.utf8) + [0]
    }

    mutating func signature(_ text: String) { bytes += [UInt8(text.utf8.count)] + Array(text.utf8) + [0] }

    /// The length comes first, and does not count what aligns the first element.
    mutating func array(alignment: Int, _ elements: (inout BusWriter) -> Void) {
        number(0)
        let place = bytes.count - 4
        align(alignment)
        let start = bytes.count
        elements(&self)
        let length = UInt32(bytes.count - start)
        for (index, shift) in ([0, 8, 16, 24] as [UInt32]).enumerated() {
            bytes[place + index] = UInt8(truncatingIfNeeded: length >> shift)
        }
    }
}

/// Reads what a peer wrote; nothing of it is believed. Alignment counts from where it begins, which is a multiple of eight in a message.
struct BusReader {
    private let bytes: ArraySlice<UInt8>
    private let isBigEndian: Bool
    private(set) var offset = 0

    init(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) { (self.bytes, self.isBigEndian) = (bytes, isBigEndian) }

    var isAtEnd: Bool { offset >= bytes.count }

    mutating func align(_ size: Int) throws(BusMessage.Malformed) {
        offset = (offset + size - 1) / size * size
        if offset > bytes.count { throw BusMessage.Malformed() }
    }

    mutating func byte() throws(BusMessage.Malformed) -> UInt8 {
        guard offset < bytes.count else { throw BusMessage.Malformed() }
        defer { offset += 1 }
        return bytes[bytes.startIndex + offset]
    }

    mutating func number() throws(BusMessage.Malformed) -> UInt32 {
        try align(4)
        var value: UInt32 = 0
        for index in 0..<4 {
            let byte = UInt32(try byte())
            value |= byte << UInt32(8 * (isBigEndian ? 3 - index : index))
        }
        return value
    }

    mutating func string() throws(BusMessage.Malformed) -> String { try text(of: Int(try number())) }

    mutating func signature() throws(BusMessage.Malformed) -> String { try text(of: Int(try byte())) }

    private mutating func text(of length: Int) throws(BusMessage.Malformed) -> String {
        guard length < bytes.count - offset else { throw BusMessage.Malformed() }
        let start = bytes.startIndex + offset
        offset += length + 1
        return String(decoding: bytes[start..<(start + length)], as: UTF8.self)
    }
}
