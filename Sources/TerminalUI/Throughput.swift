/// The speed of the last minutes, in steps of five seconds, for the picture beside the details. Only what was seen
/// while the screen was open.
struct Throughput: Sendable {
    static let step = Duration.seconds(5)
    static let steps = 60

    /// Bytes a second at their highest in each step, by the step's number; at most `steps` of them.
    private var peaks: [(step: Int64, speed: Int64)] = []

    mutating func add(_ bytesPerSecond: Int64, at uptime: Duration) {
        let step = Self.number(uptime)
        if let last = peaks.last, last.step == step {
            peaks[peaks.count - 1].speed = max(last.speed, bytesPerSecond)
        } else {
            peaks.append((step, bytesPerSecond))
        }
        peaks.removeAll { $0.step <= step - Int64(Self.steps) }
    }

    /// The last `count` steps up to now, oldest first; 0 where nothing is known.
    func speeds(_ count: Int, at uptime: Duration) -> [Int64] {
        let now = Self.number(uptime)
        var speeds = Array(repeating: Int64(0), count: max(0, count))
        for (step, speed) in peaks {
            let place = count - 1 - Int(now - step)
            if speeds.indices.contains(place) { speeds[place] = speed }
        }
        return speeds
    }

    private static func number(_ uptime: Duration) -> Int64 { uptime.components.seconds / step.components.seconds }
}
