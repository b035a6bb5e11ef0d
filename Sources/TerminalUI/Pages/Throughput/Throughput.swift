/// The speed of the last minutes, in steps of five seconds: what the engine had kept when the screen came to it, and what was seen since.
struct Throughput: Sendable {
    static let step = Duration.seconds(5)
    static let steps = 60

    private struct Step {
        var number: Int64
        /// The sum, number and highest of the speeds told in it.
        var sum: Double
        var count: Double
        var peak: Int64
    }

    /// At most `steps` of them, oldest first.
    private var seen: [Step] = []

    mutating func add(_ bytesPerSecond: Int64, at uptime: Duration) {
        let number = Self.number(uptime)
        if seen.last?.number == number {
            seen[seen.count - 1].sum += Double(bytesPerSecond)
            seen[seen.count - 1].count += 1
            seen[seen.count - 1].peak = max(seen[seen.count - 1].peak, bytesPerSecond)
        } else {
            seen.append(Step(number: number, sum: Double(bytesPerSecond), count: 1, peak: bytesPerSecond))
        }
        seen.removeAll { $0.number <= number - Int64(Self.steps) }
    }

    /// Puts what the engine has kept where nothing was seen here: before this screen came, and while the line was down.
    /// - Parameter told: averages of steps up to now, oldest first.
    mutating func begin(with told: [Int64], at uptime: Duration) {
        let now = Self.number(uptime)
        let known = Set(seen.map(\.number))
        let kept = told.suffix(Self.steps).reversed().enumerated().map { back, speed in
            Step(number: now - Int64(back), sum: Double(speed), count: 1, peak: speed)
        }
        seen = (seen + kept.filter { !known.contains($0.number) }).sorted { $0.number < $1.number }
    }

    /// All steps up to now in so many columns, oldest first: each the average of what is known of its time, 0 where nothing is.
    func averages(_ columns: Int, at uptime: Duration) -> [Int64] {
        let now = Self.number(uptime)
        var values = [Double?](repeating: nil, count: Self.steps)
        for step in seen {
            let place = Self.steps - 1 - Int(clamping: now - step.number)
            if values.indices.contains(place) { values[place] = step.sum / step.count }
        }
        return Self.columns(columns, of: values).map { Int64($0 ?? 0) }
    }

    /// Steps in so many columns, each the average of those of its steps that are known.
    static func columns(_ columns: Int, of steps: [Double?]) -> [Double?] {
        (0..<max(0, columns)).map { column in
            let first = column * steps.count / columns
            let last = max(first + 1, (column + 1) * steps.count / columns)
            let known = steps[first..<last].compactMap(\.self)
            return known.isEmpty ? nil : known.reduce(0, +) / Double(known.count)
        }
    }

    /// The highest speed that was told in the last five minutes.
    func peak(at uptime: Duration) -> Int64 {
        let oldest = Self.number(uptime) - Int64(Self.steps)
        return seen.filter { $0.number > oldest }.map(\.peak).max() ?? 0
    }

    /// The average of the last steps, as many as `duration` has, of which something is known.
    func average(of duration: Duration, at uptime: Duration) -> Int64 {
        let first = Self.number(uptime) - duration.components.seconds / Self.step.components.seconds
        let steps = seen.filter { $0.number > first }
        return steps.isEmpty ? 0 : Int64(steps.reduce(0) { $0 + $1.sum / $1.count } / Double(steps.count))
    }

    private static func number(_ uptime: Duration) -> Int64 { uptime.components.seconds / step.components.seconds }
}
