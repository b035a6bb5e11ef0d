import TestSupport
import Testing

@testable import Configuration

@Suite("Values are read as people write them")
struct WrittenValueTests {
    @Test(
        "sizes are binary, with or without iB, in either case",
        arguments: [
            ("0", 0), ("17", 17), ("17B", 17), ("512K", 512 << 10), ("512k", 512 << 10), ("8M", 8 << 20),
            ("8MiB", 8 << 20), ("8mi", 8 << 20), ("2G", 2 << 30), ("1.5G", 3 << 29), ("0.001K", 1), ("3T", 3 << 40),
            ("1P", 1 << 50),
        ] as [(String, Int64)])
    func sizes(text: String, bytes: Int64) {
        #expect(ByteSize(text)?.bytes == bytes)
    }

    @Test(
        "what is no size is refused",
        arguments: ["", "K", "-1", "1.5", "8KB", "1..5K", "1.K", ".5K", "9999999999999999999", "9000P", "8 M", "８M"])
    func badSizes(text: String) {
        #expect(ByteSize(text) == nil)
    }

    @Test("a size that was written is read again", arguments: 0..<300)
    func sizeRoundTrip(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let size = ByteSize(
            bytes: Int64(random.next() >> UInt64(1 + random.below(60))) << Int64(random.below(2) * 10) & .max)
        #expect(ByteSize(size.written) == size)
    }

    @Test("rates are sizes a second, or off")
    func rates() {
        #expect(RateLimit("512K") == .bytesPerSecond(512 << 10))
        #expect(RateLimit("2M/s") == .bytesPerSecond(2 << 20))
        #expect(RateLimit("off") == .unlimited)
        #expect(RateLimit("0") == nil)
        #expect(RateLimit("fast") == nil)
        #expect(RateLimit.bytesPerSecond(2 << 20).written == "2M")
    }

    @Test(
        "durations have units and may be put together",
        arguments: [
            ("30s", 30), ("5m", 300), ("2h", 7200), ("7d", 604_800), ("1w", 604_800), ("1h30m", 5400), ("0", 0),
        ]
            as [(String, Int64)])
    func durations(text: String, seconds: Int64) {
        #expect(TimeSpan(text)?.seconds == seconds)
    }

    @Test(
        "what is no duration is refused",
        arguments: ["", "5", "m", "5x", "-5s", "99999999999999999999s", "999999999999999999w"])
    func badDurations(text: String) {
        #expect(TimeSpan(text) == nil)
    }

    @Test("a duration is written in its largest whole unit")
    func writtenDurations() {
        #expect(TimeSpan("99999d") == nil && TimeSpan("9223372036854775807s") == nil && TimeSpan("36500d") != nil)
        #expect(TimeSpan(seconds: 90).written == "90s")
        #expect(TimeSpan(seconds: 600).written == "10m")
        #expect(TimeSpan(seconds: 14 * 86_400).written == "14d")
        #expect(TimeSpan(seconds: 0).written == "0s")
    }

    @Test("a nearby word is suggested and a far one is not")
    func suggestions() {
        #expect(Suggestion.nearest(to: "uplaod", among: ["download", "upload", "undo"]) == "upload")
        #expect(Suggestion.nearest(to: "transfer", among: ["transfers", "transfers-per-host"]) == "transfers")
        #expect(Suggestion.nearest(to: "engi", among: ["engine", "events"]) == "engine")
        #expect(Suggestion.nearest(to: "zebra", among: ["list", "show"]) == nil)
        #expect(Suggestion.nearest(to: "", among: ["list"]) == nil)
    }
}
