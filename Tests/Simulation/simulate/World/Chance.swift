/// Random numbers that a seed decides (SplitMix64). A part of the world that has its own draws the same numbers whatever the others do.
struct Chance: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678_9ABC_DEF1 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// Uniform in 0..<count; count is at least 1.
    mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

    /// True once in so many times.
    mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

    mutating func pick<Element>(_ elements: some RandomAccessCollection<Element>) -> Element {
        elements[elements.index(elements.startIndex, offsetBy: below(elements.count))]
    }

    /// Picks by weight; a weight of 0 is never picked.
    mutating func pick<Element>(weighted elements: [(weight: Int, Element)]) -> Element {
        var place = below(elements.reduce(0) { $0 + $1.weight })
        for (weight, element) in elements {
            if place < weight { return element }
            place -= weight
        }
        return elements[elements.count - 1].1
    }

    /// Between two durations, short ones more often.
    mutating func duration(_ shortest: Duration, _ longest: Duration) -> Duration {
        let part = Double(below(1 << 20)) / Double(1 << 20)
        return shortest + (longest - shortest) * (part * part)
    }
}
