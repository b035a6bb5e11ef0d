/// Collects what comes between the two marks of a bracketed paste.
struct PasteCollector: Sendable {
    private var bytes: [UInt8] = []
    private var isIncomplete = false
    /// The number of bytes of the end mark that came last.
    private var matched = 0
    private var lastWasReturn = false
    private let limit: Int

    private static let endMark = Array("\u{1B}[201~".utf8)

    init(limit: Int) { self.limit = limit }

    /// Takes one byte; true when it was the last of the end mark.
    mutating func take(_ byte: UInt8) -> Bool {
        if byte == Self.endMark[matched] {
            matched += 1
            return matched == Self.endMark.count
        }
        // The mark begins with its only escape, so nothing of a broken match can begin another.
        for index in 0..<matched { store(Self.endMark[index]) }
        matched = byte == Self.endMark[0] ? 1 : 0
        if matched == 0 { store(byte) }
        return false
    }

    /// The end mark came.
    func finished() -> Paste { Paste(bytes: bytes, isIncomplete: isIncomplete) }

    /// The end mark is not coming any more.
    mutating func abandoned() -> Paste {
        for index in 0..<matched { store(Self.endMark[index]) }
        return Paste(bytes: bytes, isIncomplete: true)
    }

    private mutating func store(_ byte: UInt8) {
        defer { lastWasReturn = byte == 0x0D }
        switch byte {
        case 0x0A where lastWasReturn: return
        case 0x0A, 0x0D: keep(0x0A)
        case 0x09: keep(byte)
        case 0x00...0x1F, 0x7F: return
        default: keep(byte)
        }
    }

    private mutating func keep(_ byte: UInt8) {
        if bytes.count < limit { bytes.append(byte) } else { isIncomplete = true }
    }
}
