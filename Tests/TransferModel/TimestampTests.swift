import Testing
import TransferModel

@Suite struct TimestampTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_795_225_267_250, "2026-11-21T01:41:07.250Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
        ] as [(Int64, String)])
    func `a time is written in ISO 8601 with milliseconds and read again`(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).description == text)
        #expect(Timestamp(text)?.milliseconds == milliseconds)
    }

    @Test func `every day of four centuries comes back as it was`() {
        for day in Int64(-40_000)...106_097 {
            let time = Timestamp(milliseconds: day * 86_400_000 + 12_345)
            #expect(Timestamp(time.description) == time)
        }
    }

    @Test(arguments: [Int64.min, .max, -62_167_219_200_001, 253_402_300_800_000, 0])
    func `whatever number it is made of, it is written so that it is read again`(milliseconds: Int64) {
        let time = Timestamp(milliseconds: milliseconds)
        #expect(Timestamp(time.description) == time)
        for step in [Duration.seconds(Int64.max), .seconds(Int64.min), .seconds(999_999_999_999), .zero] {
            let moved = time.advanced(by: step)
            #expect(Timestamp(moved.description) == moved)
            #expect(time.advanced(by: moved.since(time)) == moved)
        }
    }

    @Test(arguments: [
        "-001-01-01T00:00:00Z", "+001-01-01T00:00:00Z", "2026-11-21T-1:00:00Z",
        "", "2026-11-21", "2026-11-21T12:00:00", "2026-13-01T00:00:00Z", "2026-11-21T12:00:00.xZ",
        "2026-11-21T12:00:00.Z",
    ])
    func `anything else is not a time`(text: String) {
        #expect(Timestamp(text) == nil)
    }
}
