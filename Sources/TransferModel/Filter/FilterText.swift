/// Text that is looked for: as it is, with `*` and `?`, or a regular expression. Case matters only if it has capitals
/// (of A to Z); bytes are compared, so names need not be UTF-8.
package struct FilterText: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// A part of it, letter by letter.
        case plain
        /// The whole of it, with `*` for anything and `?` for one character.
        case glob
        case regex(LinearRegex)
    }

    /// As it was written, without quotes and slashes.
    package let source: String
    package let kind: Kind
    private let bytes: [UInt8]
    private let foldsCase: Bool

    /// - Parameter isQuoted: then `*` and `?` mean themselves.
    package init(_ source: String, isQuoted: Bool = false) {
        self.source = source
        kind = !isQuoted && source.utf8.contains { $0 == 0x2A || $0 == 0x3F } ? .glob : .plain
        foldsCase = !source.utf8.contains { (0x41...0x5A).contains($0) }
        bytes = Array(source.utf8)
    }

    package init(regex: LinearRegex) {
        source = regex.source
        kind = .regex(regex)
        foldsCase = regex.foldsCase
        bytes = []
    }

    /// True when it crosses folders: then it has to see the whole path.
    var hasSlash: Bool { bytes.contains(RawPath.slash) }
    /// As `TransferFilter.effort`: its bytes, or the steps of the expression.
    var effort: Int { if case .regex(let regex) = kind { regex.steps } else { max(1, bytes.count) } }
    var isRegex: Bool { if case .regex = kind { true } else { false } }

    /// True when a text contains it, or with wildcards is it as a whole.
    package func isFound(in text: [UInt8]) -> Bool {
        switch kind {
        case .plain: contains(text)
        case .glob: matchesWhole(text[...])
        case .regex(let regex): regex.isFound(in: text)
        }
    }

    /// True when it is exactly that text; a regular expression is only ever found.
    func equals(_ text: [UInt8]) -> Bool {
        switch kind {
        case .plain: text.count == bytes.count && contains(text)
        case .glob: matchesWhole(text[...])
        case .regex(let regex): regex.isFound(in: text)
        }
    }

    private func contains(_ text: [UInt8]) -> Bool {
        guard let first = bytes.first else { return true }
        guard text.count >= bytes.count else { return false }
        return text.withUnsafeBufferPointer { text in
            bytes.withUnsafeBufferPointer { bytes in
                let last = text.count - bytes.count
                var start = 0
                search: while start <= last {
                    guard same(text[start], first) else {
                        start += 1
                        continue
                    }
                    var place = 1
                    while place < bytes.count {
                        guard same(text[start + place], bytes[place]) else {
                            start += 1
                            continue search
                        }
                        place += 1
                    }
                    return true
                }
                return false
            }
        }
    }

    private func same(_ byte: UInt8, _ wanted: UInt8) -> Bool {
        byte == wanted || foldsCase && (0x41...0x5A).contains(byte) && byte | 0x20 == wanted
    }

    /// The usual walk with one place to come back to: linear but for the stars.
    private func matchesWhole(_ text: ArraySlice<UInt8>) -> Bool {
        var (place, wanted) = (text.startIndex, 0)
        var star: (wanted: Int, place: Int)?
        while place < text.endIndex {
            if wanted < bytes.count, bytes[wanted] == 0x2A {
                star = (wanted + 1, place)
                wanted += 1
            } else if wanted < bytes.count, bytes[wanted] == 0x3F {
                place = Self.next(text, place)
                wanted += 1
            } else if wanted < bytes.count, same(text[place], bytes[wanted]) {
                place += 1
                wanted += 1
            } else if let last = star {
                place = last.place + 1
                star = (last.wanted, place)
                wanted = last.wanted
            } else {
                return false
            }
        }
        return bytes[wanted...].allSatisfy { $0 == 0x2A }
    }

    /// Behind a character of UTF-8, or one byte that is none.
    private static func next(_ text: ArraySlice<UInt8>, _ place: Int) -> Int {
        var next = place + 1
        while next < text.endIndex, text[next] & 0xC0 == 0x80 { next += 1 }
        return next
    }
}
