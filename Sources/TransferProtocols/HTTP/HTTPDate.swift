package import TransferModel

/// A date in a header field, RFC 9110 section 5.6.7: the fixed form and the two old ones.
package enum HTTPDate {
    /// `nil` for anything that is not a date.
    package static func parse(_ text: String) -> Timestamp? {
        guard text.utf8.count <= longest else { return nil }
        let words = text.split(whereSeparator: { $0 == " " || $0 == "," || $0 == "-" })
        switch words.count {
        // Sun, 06 Nov 1994 08:49:37 GMT, and with dashes and two digits of the year: Sunday, 06-Nov-94 08:49:37 GMT
        case 6 where words[5] == "GMT" || words[5] == "UTC":
            return time(day: words[1], month: words[2], year: words[3], clock: words[4])
        // Sun Nov  6 08:49:37 1994
        case 5: return time(day: words[2], month: words[1], year: words[4], clock: words[3])
        default: return nil
        }
    }

    /// Bytes; the longest date has 33.
    private static let longest = 64

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func time(day: Substring, month: Substring, year: Substring, clock: Substring) -> Timestamp? {
        guard let month = months.firstIndex(of: String(month)), let day = Int(day), var year = Int(year), year >= 0,
            (1...31).contains(day), clock.utf8.count == 8
        else { return nil }
        if year < 100 { year += year < 70 ? 2000 : 1900 }
        guard year <= 9999 else { return nil }
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return Timestamp("\(padded(year, 4))-\(padded(month + 1, 2))-\(padded(day, 2))T\(clock)Z")
    }
}
