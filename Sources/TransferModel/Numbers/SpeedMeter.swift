/// Bytes a second, smoothed over the last seconds, with a soft start: a young meter divides by its age instead of starting
/// from zero. Pure: the caller brings a clock's reading in nanoseconds.
public struct SpeedMeter: Hashable, Sendable {
    /// The weight of a byte falls to 37 % in that time.
    static let span = 3.0
    /// A meter younger than that would show leaps.
    static let youth = 0.3
    /// Without a byte for that long it stands still.
    public static let quiet = 10.0
    /// Between two files that follow each other there is no more than that.
    public static let breath = 1.0

    private var weighted = 0.0
    private let startedAt: Int64
    private var updatedAt: Int64
    private var movedAt: Int64

    public init(at nanoseconds: Int64) {
        startedAt = nanoseconds
        updatedAt = nanoseconds
        movedAt = nanoseconds
    }

    /// Takes in bytes that moved since the last time.
    public mutating func add(_ bytes: Int64, at nanoseconds: Int64) {
        let passed = Self.seconds(from: updatedAt, to: nanoseconds)
        weighted = weighted * Exponential.decay(passed / Self.span) + Double(max(0, bytes))
        updatedAt = max(updatedAt, nanoseconds)
        if bytes > 0 { movedAt = updatedAt }
    }

    /// Bytes a second; 0 after `quiet`.
    public func bytesPerSecond(at nanoseconds: Int64) -> Int64 {
        if isQuiet(at: nanoseconds) { return 0 }
        let age = max(Self.youth, Self.seconds(from: startedAt, to: nanoseconds))
        let now = weighted * Exponential.decay(Self.seconds(from: updatedAt, to: nanoseconds) / Self.span)
        // The weights of a steady stream since the start add up to this many seconds.
        return Int64(now / (Self.span * (1 - Exponential.decay(age / Self.span))))
    }

    /// True when nothing has moved for so many seconds.
    public func isQuiet(for seconds: Double = quiet, at nanoseconds: Int64) -> Bool {
        Self.seconds(from: movedAt, to: nanoseconds) >= seconds
    }

    /// Measures another file from here on, in the place of the one before; silence is counted anew.
    public mutating func goOn(at nanoseconds: Int64) {
        movedAt = max(movedAt, nanoseconds)
    }

    /// Seconds until the rest has moved, a started one counted whole; `nil`: unknown.
    public static func secondsLeft(_ bytes: Int64?, bytesPerSecond: Int64) -> Int64? {
        guard let bytes, bytesPerSecond > 0 else { return nil }
        return max(0, bytes) / bytesPerSecond + (max(0, bytes) % bytesPerSecond == 0 ? 0 : 1)
    }

    private static func seconds(from one: Int64, to other: Int64) -> Double { max(0, Double(other - one) / 1e9) }
}

/// e to the power of -x without a C library: this module has none.
enum Exponential {
    static func decay(_ x: Double) -> Double {
        if x <= 0 { return 1 }
        if x > 40 { return 0 }
        // Halve until the series is short, then square back.
        var halvings = 0
        var part = x
        while part > 0.25 {
            part /= 2
            halvings += 1
        }
        var result = 1 - part + part * part / 2 - part * part * part / 6 + part * part * part * part / 24
        for _ in 0..<halvings { result *= result }
        return result
    }
}
