import DisplayText
import TransferModel
import WireOperations

/// The answer of a server to one request.
enum SFTPAnswer: Equatable {
    /// `nil`: OK.
    case status(SFTPStatus?, String)
    case handle([UInt8])
    /// The bytes in the incoming buffer; valid while the answer is looked at.
    case data(UnsafeRawBufferPointer)
    case attributes(SFTPAttributes)
    case names([SFTPName])
    case extended([UInt8])

    static func == (left: SFTPAnswer, right: SFTPAnswer) -> Bool {
        switch (left, right) {
        case (.status(let status, let text), .status(let other, let otherText)): status == other && text == otherText
        case (.handle(let one), .handle(let other)), (.extended(let one), .extended(let other)): one == other
        case (.data(let one), .data(let other)): one.elementsEqual(other)
        case (.attributes(let one), .attributes(let other)): one == other
        case (.names(let one), .names(let other)): one == other
        default: false
        }
    }

    /// The number of the request and its answer; `nil` for what is no answer of version 3.
    static func parse(_ packet: UnsafeRawBufferPointer) -> (id: UInt32, answer: SFTPAnswer)? {
        var reader = PacketReader(packet)
        guard let type = reader.byte(), let id = reader.number32() else { return nil }
        switch type {
        case PacketType.statusAnswer:
            guard let code = reader.number32() else { return nil }
            // Servers of the first hour leave the text out.
            let text = reader.string().map { harmless($0) } ?? ""
            return (id, .status(code == 0 ? nil : SFTPStatus(rawValue: code) ?? .failure, text))
        case PacketType.handle:
            // At most 256 bytes (section 3); a longer one would only swell every write.
            guard let handle = reader.string(), handle.count <= 256 else { return nil }
            return (id, .handle(Array(handle)))
        case PacketType.data:
            guard let data = reader.string() else { return nil }
            return (id, .data(data))
        case PacketType.attributes:
            guard let attributes = attributes(&reader) else { return nil }
            return (id, .attributes(attributes))
        case PacketType.names:
            guard let names = names(&reader) else { return nil }
            return (id, .names(names))
        case PacketType.extendedReply:
            return (id, .extended(Array(packet.dropFirst(5))))
        default: return nil
        }
    }

    /// Section 7, NAME: a count, and for each a name, a line for people and attributes. What follows the last is left alone.
    private static func names(_ reader: inout PacketReader) -> [SFTPName]? {
        guard let count = reader.number32() else { return nil }
        var names: [SFTPName] = []
        for _ in 0..<count {
            // A count is only a word: each name has to be there.
            guard let name = reader.string(), reader.string() != nil, let attributes = attributes(&reader) else {
                return nil
            }
            names.append(SFTPName(RawPath(Array(name)), attributes))
        }
        return names
    }

    /// Section 5. What comes after the times is of no use here.
    private static func attributes(_ reader: inout PacketReader) -> SFTPAttributes? {
        guard let flags = reader.number32() else { return nil }
        var size: Int64?
        var modified: Int64?
        var kind: UInt32 = 0
        if flags & AttributeFlag.size != 0 {
            guard let told = reader.number64() else { return nil }
            size = Int64(clamping: told)
        }
        if flags & AttributeFlag.owner != 0 {
            guard reader.number32() != nil, reader.number32() != nil else { return nil }
        }
        if flags & AttributeFlag.permissions != 0 {
            guard let mode = reader.number32() else { return nil }
            kind = mode & 0o170000
        }
        if flags & AttributeFlag.times != 0 {
            guard reader.number32() != nil, let told = reader.number32() else { return nil }
            modified = Int64(told)
        }
        if flags & AttributeFlag.extended != 0 {
            guard let count = reader.number32() else { return nil }
            for _ in 0..<count {
                guard reader.string() != nil, reader.string() != nil else { return nil }
            }
        }
        return SFTPAttributes(
            size: size, modified: modified, isFolder: kind == 0o040000, isLink: kind == 0o120000)
    }

    /// A peer's text, short and without anything that a terminal obeys.
    static func harmless(_ text: some Collection<UInt8>) -> String {
        RawPath(Array(text.prefix(300))).displayed
    }
}

/// The server's account of itself at the start: VERSION, and the offer of `limits@openssh.com`.
struct ServerGreeting: Equatable {
    var version: UInt32
    var features = SFTPFeatures()
    var tellsLimits = false

    /// `nil` for what is no VERSION.
    init?(_ packet: UnsafeRawBufferPointer) {
        var reader = PacketReader(packet)
        guard reader.byte() == PacketType.version, let version = reader.number32() else { return nil }
        self.version = version
        var names: [String] = []
        while !reader.isAtEnd, names.count < 100 {
            guard let name = reader.string(), let value = reader.string() else { return nil }
            let text = String(peer: name)
            names.append(text)
            // A later version of an extension may have another form.
            let isFirst = value.elementsEqual("1".utf8)
            switch text {
            case "posix-rename@openssh.com": features.renamesOver = isFirst
            case "fsync@openssh.com": features.syncs = isFirst
            case "statvfs@openssh.com": features.tellsFreeSpace = value.elementsEqual("2".utf8)
            case "limits@openssh.com": tellsLimits = isFirst
            default: break
            }
        }
        // No server says its name here. OpenSSH (8.0 and later) offers this one, and nothing but its own; others offer a choice of
        // OpenSSH's beside their own.
        features.isOpenSSH =
            names.contains("lsetstat@openssh.com") && names.contains("fstatvfs@openssh.com")
            && names.allSatisfy { $0.hasSuffix("@openssh.com") || Self.plainNames.contains($0) }
    }

    private static let plainNames: Set<String> = ["home-directory", "copy-data"]
}

/// The largest sizes of packets, in bytes.
struct PacketLimits: Equatable {
    /// Bytes of data in one WRITE and one READ.
    var write = 32 * 1024
    var read = 32 * 1024

    /// The sizes that every server must take (section 3).
    init() {}

    /// The answer of `limits@openssh.com`: four numbers, 0 for no limit. `nil` for what is no such answer.
    init?(_ reply: [UInt8]) {
        let numbers: [UInt64]? = reply.withUnsafeBytes { bytes in
            var reader = PacketReader(bytes)
            var numbers: [UInt64] = []
            for _ in 0..<4 {
                guard let number = reader.number64() else { return nil }
                numbers.append(number)
            }
            return numbers
        }
        guard let numbers else { return nil }
        func length(_ told: UInt64) -> Int {
            let packet = numbers[0] == 0 ? UInt64(Self.largest) : max(numbers[0], 2048) - 1024
            return Int(min(told == 0 ? packet : told, packet, UInt64(Self.largest)))
        }
        (read, write) = (max(1, length(numbers[1])), max(1, length(numbers[2])))
    }

    static let largest = 256 * 1024
    /// No packet that we take is longer: the largest data and its frame.
    static let packet = largest + 4096
}
