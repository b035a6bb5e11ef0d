import Configuration
import Testing

@Suite struct RateTimetableTests {
    /// A minute of the week.
    private func at(_ day: Int, _ hour: Int, _ minute: Int = 0) -> Int { (day * 24 + hour) * 60 + minute }

    @Test("rates, timetables and days are read as rclone writes them, and written back")
    func reading() throws {
        for text in ["512K", "off", "08:00,512K 18:00,off", "Mon-08:00,1M Fri-23:59,off 12:30,2M"] {
            #expect(RateTimetable(text)?.written == text)
        }
        #expect(RateTimetable("8:00,512k  MON-9:5,off")?.written == "08:00,512K Mon-09:05,off")
        for text in [
            "", " ", "24:00,1M", "08:60,1M", "08:00", "08:00,", "08:00,1M,2M", "Moon-08:00,1M", "1M 2M", "08:00;1M",
        ] {
            #expect(RateTimetable(text) == nil, "\(text)")
        }
    }

    @Test("the last change counts, that of yesterday before the day's first one")
    func days() throws {
        let table = try #require(RateTimetable("08:00,512K 18:00,off"))
        #expect(table.rate(at: at(1, 7, 59)) == .unlimited)
        #expect(table.rate(at: at(1, 8)) == .bytesPerSecond(512 << 10))
        #expect(table.rate(at: at(6, 17, 59)) == .bytesPerSecond(512 << 10))
        #expect(table.rate(at: at(0, 0)) == .unlimited)
        #expect(table.minutes(toChangeAfter: at(2, 8)) == 600)
        #expect(table.minutes(toChangeAfter: at(6, 23)) == 540)
        #expect(RateTimetable(.unlimited).minutes(toChangeAfter: 0) == nil)
    }

    @Test("what is said of one day wins over what is said of all, and a week wraps round")
    func weeks() throws {
        let table = try #require(RateTimetable("Mon-00:00,1M Sat-00:00,off"))
        #expect(table.rate(at: at(0, 12)) == .unlimited)
        #expect(table.rate(at: at(3, 12)) == .bytesPerSecond(1 << 20))
        #expect(table.rate(at: at(6, 0)) == .unlimited)
        #expect(table.minutes(toChangeAfter: at(6, 0)) == 2 * 1440)
        let both = try #require(RateTimetable("Sun-08:00,1K 08:00,2K"))
        #expect(both.rate(at: at(0, 9)) == .bytesPerSecond(1024))
        #expect(both.rate(at: at(1, 9)) == .bytesPerSecond(2048))
        // The same said twice is no change.
        #expect(RateTimetable("08:00,1K 09:00,1K")?.minutes(toChangeAfter: 0) == nil)
    }
}
