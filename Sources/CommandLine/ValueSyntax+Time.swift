package import Configuration

extension ValueSyntax where Value == WrittenTime {
    /// `2026-11-21T18:00`, `18:00`, `+2h`.
    package static var time: ValueSyntax {
        ValueSyntax("TIME", allowed: "a time such as 2026-11-21T18:00, 18:00 or +2h") { WrittenTime($0) }
    }
}
