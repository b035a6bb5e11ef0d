/// A regular expression whose search takes time in proportion to the text, whatever a person typed: all its states
/// walk along together, nothing is ever tried again.
///
/// No library does this here, and so these 360 lines stay. A filter is run over a million names while other clients wait. PCRE2's DFA
/// (10.42) begins anew at each byte: `(a*)*b` took 0.4 ms for 255 bytes, 95 ms for 4080, and `((a{1,40}){1,40}){1,9}b` did not end within 25
/// seconds on 255 bytes; its match limit would turn a slow filter into an error. RE2 is linear, but it is C++: each program, the front too,
/// would link libstdc++, by a shim with code of ours in it.
///
/// Letters, `.`, `[a-z]`, `[^…]`, `\d \w \s \D \W \S`, `^ $`, `( )`, `|`, `* + ? {2} {2,} {2,5}`. Over bytes; `.` is one
/// character of UTF-8. Case matters only if the expression has capitals beside those of `\D \W \S`.
package struct LinearRegex: Hashable, Sendable {
    package let source: String
    let foldsCase: Bool
    private let program: [Step]
    /// The cost of a search for each byte of a text, at worst.
    var steps: Int { program.count }

    enum Step: Hashable, Sendable {
        case byte(ByteSet)
        case fork(Int, Int)
        case jump(Int)
        case start
        case end
        case found
    }

    /// A set of bytes.
    struct ByteSet: Hashable, Sendable {
        private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

        init() {}
        init(_ ranges: [ClosedRange<UInt8>]) { for range in ranges { for byte in range { insert(byte) } } }

        func contains(_ byte: UInt8) -> Bool {
            let bit = UInt64(1) << UInt64(byte & 63)
            switch byte >> 6 {
            case 0: return words.0 & bit != 0
            case 1: return words.1 & bit != 0
            case 2: return words.2 & bit != 0
            default: return words.3 & bit != 0
            }
        }

        mutating func insert(_ byte: UInt8) {
            let bit = UInt64(1) << UInt64(byte & 63)
            switch byte >> 6 {
            case 0: words.0 |= bit
            case 1: words.1 |= bit
            case 2: words.2 |= bit
            default: words.3 |= bit
            }
        }

        var inverted: ByteSet {
            var other = ByteSet()
            other.words = (~words.0, ~words.1, ~words.2, ~words.3)
            return other
        }

        /// With both cases of each letter that is in it.
        var folded: ByteSet {
            var both = self
            for letter in UInt8(ascii: "a")...UInt8(ascii: "z") where contains(letter) || contains(letter - 32) {
                both.insert(letter)
                both.insert(letter - 32)
            }
            return both
        }

        func union(_ other: ByteSet) -> ByteSet {
            var both = ByteSet()
            both.words = (
                words.0 | other.words.0, words.1 | other.words.1, words.2 | other.words.2, words.3 | other.words.3
            )
            return both
        }

        static func == (one: ByteSet, other: ByteSet) -> Bool { one.words == other.words }
        func hash(into hasher: inout Hasher) {
            hasher.combine(words.0)
            hasher.combine(words.1)
            hasher.combine(words.2)
            hasher.combine(words.3)
        }
    }

    /// Bytes of the longest expression that is read.
    static let longest = 4096

    /// - Throws: where in the expression it goes wrong, and why.
    package init(_ source: String) throws(FilterFault) {
        if source.utf8.count > Self.longest {
            throw FilterFault(0, "the expression is longer than \(Self.longest) bytes")
        }
        self.source = source
        foldsCase = !Self.hasCapitals(source)
        var compiler = RegexCompiler(source, foldsCase: foldsCase)
        program = try compiler.compile()
    }

    /// Returns true when it has a capital that stands for itself.
    private static func hasCapitals(_ source: String) -> Bool {
        var isEscaped = false
        for byte in source.utf8 {
            let isKind = isEscaped && "DWS".utf8.contains(byte)
            if !isKind, (0x41...0x5A).contains(byte) { return true }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        }
        return false
    }

    /// True when it matches anywhere in a text.
    package func isFound(in text: [UInt8]) -> Bool {
        var (now, next) = (Places(program.count), Places(program.count))
        for place in 0...text.count {
            add(0, to: &now, place, text.count)
            if now.hasFound { return true }
            guard place < text.count else { return false }
            next.removeAll()
            for step in now.steps {
                guard case .byte(let set) = program[step], set.contains(text[place]) else { continue }
                add(step + 1, to: &next, place + 1, text.count)
            }
            swap(&now, &next)
            if now.hasFound { return true }
        }
        return false
    }

    private func add(_ first: Int, to places: inout Places, _ place: Int, _ count: Int) {
        var waiting = [first]
        while let step = waiting.popLast() {
            guard places.insert(step) else { continue }
            switch program[step] {
            case .byte: break
            case .fork(let one, let other): waiting += [other, one]
            case .jump(let target): waiting.append(target)
            case .start: if place == 0 { waiting.append(step + 1) }
            case .end: if place == count { waiting.append(step + 1) }
            case .found: places.hasFound = true
            }
        }
    }

    /// The steps of the program where the search stands: each at most once.
    private struct Places {
        var steps: [Int] = []
        var hasFound = false
        private var isThere: [Bool]

        init(_ count: Int) { isThere = Array(repeating: false, count: count) }

        mutating func insert(_ step: Int) -> Bool {
            if isThere[step] { return false }
            isThere[step] = true
            steps.append(step)
            return true
        }

        mutating func removeAll() {
            for step in steps { isThere[step] = false }
            steps.removeAll(keepingCapacity: true)
        }
    }
}
