/// Text of an expression into its program.
struct RegexCompiler {
    private typealias Step = LinearRegex.Step
    private typealias ByteSet = LinearRegex.ByteSet
    private let text: [Unicode.Scalar]
    private let foldsCase: Bool
    private var place = 0
    private var depth = 0

    /// A repeated part is written out: `(a{100}){100}` would be long.
    private static let most = 4000
    /// Steps that repetitions have written so far, those included that a later one wrote anew.
    private var written = 0
    private static let mostWritten = 10 * most

    init(_ source: String, foldsCase: Bool) {
        text = Array(source.unicodeScalars)
        self.foldsCase = foldsCase
    }

    mutating func compile() throws(FilterFault) -> [LinearRegex.Step] {
        if text.isEmpty { throw FilterFault(0, "an expression is missing between the slashes") }
        let program = try choice()
        guard place == text.count else { throw FilterFault(place, "this ) opens nowhere") }
        return program + [.found]
    }

    private var scalar: Unicode.Scalar? { place < text.count ? text[place] : nil }

    private mutating func choice() throws(FilterFault) -> [Step] {
        var branches = [try sequence()]
        var count = branches[0].count
        // One after the other and not one inside the other: a person may write any number of them.
        while scalar == "|" {
            place += 1
            let branch = try sequence()
            count += branch.count + 2
            if count > Self.most { throw FilterFault(place, "the expression is too long") }
            branches.append(branch)
        }
        let last = branches.removeLast()
        var program: [Step] = []
        for branch in branches {
            program.append(.fork(program.count + 1, program.count + branch.count + 2))
            program += branch.moved(by: program.count)
            program.append(.jump(count))
        }
        return program + last.moved(by: program.count)
    }

    private mutating func sequence() throws(FilterFault) -> [Step] {
        var steps: [Step] = []
        while let next = scalar, next != "|", next != ")" {
            let part = try repeated()
            steps += part.moved(by: steps.count)
            if steps.count > Self.most { throw FilterFault(place, "the expression is too long") }
        }
        return steps
    }

    private mutating func repeated() throws(FilterFault) -> [Step] {
        var part = try atom()
        while let sign = scalar {
            switch sign {
            case "*": part = Self.any(part)
            case "+": part = part + Self.any(part).moved(by: part.count)
            case "?": part = Self.optional(part)
            case "{":
                guard let (least, most) = try bounds() else { return part }
                var all: [Step] = []
                for _ in 0..<least { all += part.moved(by: all.count) }
                if let most {
                    for _ in least..<most { all += Self.optional(part).moved(by: all.count) }
                } else {
                    all += Self.any(part).moved(by: all.count)
                }
                part = all
            default: return part
            }
            written += part.count
            guard part.count <= Self.most, written <= Self.mostWritten else {
                throw FilterFault(place, "the expression is too long")
            }
            place += 1
        }
        return part
    }

    private static func any(_ part: [Step]) -> [Step] {
        [.fork(1, part.count + 2)] + part.moved(by: 1) + [.jump(0)]
    }

    private static func optional(_ part: [Step]) -> [Step] { [.fork(1, part.count + 1)] + part.moved(by: 1) }

    /// `{2}`, `{2,}`, `{2,5}`, `place` then at the closing brace; `nil`: the brace is a letter.
    private mutating func bounds() throws(FilterFault) -> (Int, Int?)? {
        guard let end = text[place...].firstIndex(of: "}") else {
            throw FilterFault(place, "the } is missing")
        }
        let words = String(String.UnicodeScalarView(text[(place + 1)..<end])).split(
            separator: ",", omittingEmptySubsequences: false)
        guard let least = words.first.flatMap({ Int($0) }), words.count < 3, (0...100).contains(least) else {
            throw FilterFault(place, "between { and } stand numbers up to 100")
        }
        var most: Int? = least
        if words.count == 2 {
            most = words[1].isEmpty ? nil : Int(words[1])
            if !words[1].isEmpty, most.map({ !(least...100).contains($0) }) ?? true {
                throw FilterFault(place, "between { and } stand numbers up to 100")
            }
        }
        // What is written must stay, so that its length can be counted.
        if most == 0 { throw FilterFault(place, "what is there 0 times can be left out") }
        place = end
        return (least, most)
    }

    private mutating func atom() throws(FilterFault) -> [Step] {
        // The caller saw that there is one.
        let start = place
        let scalar = text[place]
        place += 1
        switch scalar {
        case "(":
            depth += 1
            guard depth < 50 else { throw FilterFault(start, "the brackets are too deep") }
            let inside = try choice()
            guard self.scalar == ")" else { throw FilterFault(start, "the ) is missing") }
            place += 1
            depth -= 1
            return inside
        case "[": return [.byte(try set(start))]
        case ".": return Self.character
        case "^": return [.start]
        case "$": return [.end]
        case "*", "+", "?": throw FilterFault(start, "nothing stands before \(Character(scalar))")
        case "\\":
            guard let escaped = self.scalar else { throw FilterFault(start, "nothing stands behind \\") }
            place += 1
            if let kind = Self.kind(escaped) { return [.byte(kind)] }
            return literal(escaped)
        default: return literal(scalar)
        }
    }

    private func literal(_ scalar: Unicode.Scalar) -> [Step] {
        String(Character(scalar)).utf8.map { byte in
            let one = ByteSet([byte...byte])
            return .byte(foldsCase ? one.folded : one)
        }
    }

    /// One character: a byte that begins one, and those that continue it.
    private static let character: [Step] =
        [.byte(ByteSet([0x00...0x7F, 0xC0...0xFF]))] + any([.byte(ByteSet([0x80...0xBF]))]).moved(by: 1)

    private static func kind(_ letter: Unicode.Scalar) -> ByteSet? {
        switch letter {
        case "d": ByteSet([0x30...0x39])
        case "D": ByteSet([0x30...0x39]).inverted
        case "w": ByteSet([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A, 0x80...0xFF])
        case "W": ByteSet([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A, 0x80...0xFF]).inverted
        case "s": ByteSet([0x09...0x0D, 0x20...0x20])
        case "S": ByteSet([0x09...0x0D, 0x20...0x20]).inverted
        default: nil
        }
    }

    /// `[…]` over single bytes, `place` behind the bracket.
    private mutating func set(_ start: Int) throws(FilterFault) -> ByteSet {
        var set = ByteSet()
        let isInverted = scalar == "^"
        if isInverted { place += 1 }
        var isFirst = true
        while let next = scalar, next != "]" || isFirst {
            isFirst = false
            place += 1
            var low = next
            if next == "\\", let escaped = scalar {
                place += 1
                if let kind = Self.kind(escaped) {
                    set = set.union(kind)
                    continue
                }
                low = escaped
            }
            var high = low
            if scalar == "-", place + 1 < text.count, text[place + 1] != "]" {
                high = text[place + 1]
                place += 2
            }
            guard low.isASCII, high.isASCII, low <= high else {
                throw FilterFault(start, "between [ and ] stand letters and digits of ASCII, from low to high")
            }
            set = set.union(ByteSet([UInt8(low.value)...UInt8(high.value)]))
        }
        guard scalar == "]" else { throw FilterFault(start, "the ] is missing") }
        place += 1
        if foldsCase { set = set.folded }
        return isInverted ? set.inverted : set
    }
}

extension [LinearRegex.Step] {
    /// The same steps further down in a program.
    fileprivate func moved(by count: Int) -> [Element] {
        map { step in
            switch step {
            case .fork(let one, let other): .fork(one + count, other + count)
            case .jump(let target): .jump(target + count)
            case .byte, .start, .end, .found: step
            }
        }
    }
}
