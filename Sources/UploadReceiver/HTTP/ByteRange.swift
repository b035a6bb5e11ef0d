/// A run of bytes of a file, both ends included, as `Content-Range` counts them (RFC 9110 section 14).
struct ByteRange: Equatable, Sendable {
    let first: UInt64
    let last: UInt64

    var count: UInt64 { last - first + 1 }
}

/// The part of a file of a given size that a `Range` field asks for.
enum RangeSelection: Equatable, Sendable {
    /// No range, one that we do not understand, or several: the whole file, with 200 (RFC 9110 14.2 permits it).
    case whole
    case part(ByteRange)
    /// 416: nothing of the file is in the range.
    case unsatisfiable

    /// Reads `bytes=A-B`, `bytes=A-` or `bytes=-N`.
    init(field: String?, size: UInt64) {
        self = .whole
        guard let field, let specification = Self.specification(field) else { return }
        let ends = specification.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy(isDigit) }) else { return }
        switch (ends[0].isEmpty, ends[1].isEmpty) {
        case (true, true): return
        case (true, false):
            let count = min(number(ends[1]), size)
            self = count == 0 ? .unsatisfiable : .part(ByteRange(first: size - count, last: size - 1))
        case (false, let isOpen):
            let first = number(ends[0])
            let last = isOpen ? UInt64.max : number(ends[1])
            guard first <= last else { return }
            self = first >= size ? .unsatisfiable : .part(ByteRange(first: first, last: min(last, size - 1)))
        }
    }

    private static func specification(_ field: String) -> Substring? {
        let halves = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, trimmed(halves[0]).lowercased() == "bytes" else { return nil }
        return trimmed(halves[1])
    }
}

/// The value of digits; more than 64 bits hold count as the largest number, which no file reaches.
private func number(_ digits: Substring) -> UInt64 { UInt64(digits) ?? .max }

private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
