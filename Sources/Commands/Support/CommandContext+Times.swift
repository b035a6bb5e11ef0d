import CommandLine
import Configuration
import MartletKit

/// Times as a person writes and reads them.
extension CommandContext {
    /// A moment that an option names.
    func time(of option: Option<WrittenTime>, _ invocation: Invocation) -> Timestamp? {
        invocation.value(option).map {
            Timestamp(milliseconds: $0.milliseconds(now: surroundings.now(), calendar: surroundings.calendar))
        }
    }

    /// A time for a person: the clock on the wall, to the second.
    func time(_ time: Timestamp) -> String { surroundings.calendar.date(time.milliseconds / 1000).written }

    /// The time of day; with its day when that is another.
    func shortTime(_ time: Timestamp) -> String {
        let (text, today) = (self.time(time), self.time(Timestamp(milliseconds: surroundings.now())).prefix(10))
        return text.hasPrefix(today) ? String(text.suffix(8)) : text
    }
}
