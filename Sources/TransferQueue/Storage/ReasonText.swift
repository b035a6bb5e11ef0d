import TransferModel

/// The text of one of the files that a row of `reasons` counts, in its column `message`: the message and, in lines of their own, what the
/// server said and to what. Messages have one line.
struct ReasonText: Hashable {
    var message: String
    var said: String?
    var detail: String?

    init(message: String, said: String?, detail: String?) {
        (self.message, self.said, self.detail) = (message, said, detail)
    }

    /// Reads what `stored` writes; what earlier versions wrote is a message alone.
    init(stored: String) {
        let lines = stored.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        func line(_ number: Int) -> String? { lines.count > number && !lines[number].isEmpty ? lines[number] : nil }
        self.init(message: lines.first ?? "", said: line(1), detail: line(2))
    }

    var stored: String {
        said == nil && detail == nil ? message : [message, said ?? "", detail ?? ""].joined(separator: "\n")
    }

    /// The lines behind the message, of the error in `d.error`.
    static let quotedSQL = """
        CASE WHEN ifnull(d.error ->> 'said', d.error ->> 'detail') IS NULL THEN '' ELSE char(10)
        || ifnull(d.error ->> 'said', '') || char(10) || ifnull(d.error ->> 'detail', '') END
        """
}
