/// Past speeds: bytes a second in steps of one length, each way, oldest first. The last step is not over yet.
public struct SpeedSeries: Codable, Hashable, Sendable {
    /// The length of a step.
    public var seconds: Int64
    public var up: [Int64]
    public var down: [Int64]

    public init(seconds: Int64, up: [Int64], down: [Int64]) {
        self.seconds = seconds
        self.up = up
        self.down = down
    }
}

/// Bytes that moved in steps of time, as an engine keeps them for the next one.
package struct SpeedRecord: Codable, Hashable, Sendable {
    /// Bytes of each step, oldest first. The last step was under way.
    package struct Steps: Codable, Hashable, Sendable {
        /// The length of a step.
        package var seconds: Int64
        package var up: [Int64]
        package var down: [Int64]

        package init(seconds: Int64, up: [Int64], down: [Int64]) {
            self.seconds = seconds
            self.up = up
            self.down = down
        }
    }

    /// When it was kept, by the wall clock: the clock that orders the steps begins anew with the machine.
    package var at: Timestamp
    package var spans: [Steps]

    package init(at: Timestamp, spans: [Steps]) {
        self.at = at
        self.spans = spans
    }
}

/// Bytes that moved in the last five minutes, hour and day: three rings of a fixed size, whatever the queue holds. A value; the caller
/// brings a clock's reading in nanoseconds.
public struct SpeedHistory: Sendable {
    /// Seconds of a step, and how many steps are kept: 5 minutes, an hour, a day.
    public static let spans: [(seconds: Int64, steps: Int)] = [(5, 60), (60, 60), (600, 144)]

    private struct Ring {
        let seconds: Int64
        /// The first step that anything is known of.
        private(set) var first: Int64
        /// The newest step that was written to.
        var newest: Int64
        /// Bytes of the step with number n stand at n modulo their count.
        var up: [Int64]
        var down: [Int64]

        init(_ span: (seconds: Int64, steps: Int), at second: Int64) {
            seconds = span.seconds
            first = second / span.seconds
            newest = first
            up = Array(repeating: 0, count: span.steps)
            down = up
        }

        /// Steps of an earlier engine may lie before the clock's zero.
        private func place(_ number: Int64) -> Int {
            let rest = Int(number % Int64(up.count))
            return rest < 0 ? rest + up.count : rest
        }

        private var oldest: Int64 { max(first, newest - Int64(up.count) + 1) }

        var steps: SpeedRecord.Steps {
            let places = (oldest...newest).map(place)
            return SpeedRecord.Steps(seconds: seconds, up: places.map { up[$0] }, down: places.map { down[$0] })
        }

        /// Puts steps before the ones that are counted here.
        /// - Parameter second: when they were kept, by this ring's clock; not later than its newest step.
        mutating func adopt(_ earlier: SpeedRecord.Steps, at second: Int64) {
            let last = min(newest, Int64((Double(second) / Double(seconds)).rounded(.down)))
            for (age, (sent, received)) in zip(earlier.up, earlier.down).reversed().enumerated() {
                let number = last - Int64(age)
                guard number > newest - Int64(up.count) else { return }
                first = min(first, number)
                ByteSum.add(max(0, sent), to: &up[place(number)])
                ByteSum.add(max(0, received), to: &down[place(number)])
            }
        }

        /// Steps in which nothing moved are empty.
        mutating func advance(to second: Int64) {
            let number = second / seconds
            guard number > newest else { return }
            for passed in max(newest + 1, number - Int64(up.count) + 1)...number {
                up[place(passed)] = 0
                down[place(passed)] = 0
            }
            newest = number
        }

        mutating func add(_ bytes: Int64, _ direction: TransferDirection, at second: Int64) {
            advance(to: second)
            if direction == .upload { up[place(newest)] += bytes } else { down[place(newest)] += bytes }
        }

        func series(at nanoseconds: Int64) -> SpeedSeries {
            var ring = self
            ring.advance(to: nanoseconds / 1_000_000_000)
            // The step that is not over counts for as long as it has lasted, or it would always look slow.
            let lasted = max(1, Double(nanoseconds) / 1e9 - Double(ring.newest * seconds))
            func speeds(_ bytes: [Int64]) -> [Int64] {
                (ring.oldest...ring.newest).map { number in
                    let sum = bytes[ring.place(number)]
                    return number == ring.newest ? Int64(Double(sum) / lasted) : sum / seconds
                }
            }
            return SpeedSeries(seconds: seconds, up: speeds(ring.up), down: speeds(ring.down))
        }
    }

    private var rings: [Ring]

    public init(at nanoseconds: Int64) {
        rings = Self.spans.map { Ring($0, at: nanoseconds / 1_000_000_000) }
    }

    /// Bytes have moved since the last time.
    public mutating func add(_ bytes: Int64, _ direction: TransferDirection, at nanoseconds: Int64) {
        guard bytes > 0 else { return }
        for index in rings.indices { rings[index].add(bytes, direction, at: nanoseconds / 1_000_000_000) }
    }

    /// All of it, for the next engine.
    /// - Parameter time: the same instant by the wall clock.
    package func record(at nanoseconds: Int64, _ time: Timestamp) -> SpeedRecord {
        let spans = rings.map { ring in
            var ring = ring
            ring.advance(to: nanoseconds / 1_000_000_000)
            return ring.steps
        }
        return SpeedRecord(at: time, spans: spans)
    }

    /// Goes on with what moved before the engine started. Nothing moved in between. A wall clock that was set back meanwhile tells of no
    /// time in between.
    package mutating func adopt(_ earlier: SpeedRecord, at nanoseconds: Int64, _ time: Timestamp) {
        let second = nanoseconds / 1_000_000_000
        let passed = (Double(time.milliseconds) - Double(earlier.at.milliseconds)) / 1000
        // All that is longer ago than the longest span is gone.
        let gone = min(max(0, passed), Self.spans.map { Double($0.seconds) * Double($0.steps) }.max() ?? 0)
        for index in rings.indices {
            guard let span = earlier.spans.first(where: { $0.seconds == rings[index].seconds }),
                span.up.count == span.down.count
            else { continue }
            rings[index].advance(to: second)
            rings[index].adopt(span, at: second - Int64(gone))
        }
    }

    /// One of each span, the shortest first.
    public func series(at nanoseconds: Int64) -> [SpeedSeries] { rings.map { $0.series(at: nanoseconds) } }
}
