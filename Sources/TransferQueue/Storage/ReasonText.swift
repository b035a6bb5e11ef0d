import TransferModel

/// The text of one of the files that a row of `reasons` counts, in its column `message`: the message and, in lines of their own, what the
/// server said, to what, and the finding in JSON. Messages have one line.
struct ReasonText: Hashable {
    var finding: Finding
    var said: String?
    var detail: String?

    init(_ finding: Finding, said: String?, detail: String?) {
        (self.finding, self.said, self.detail) = (finding, said, detail)
    }

    /// Reads what `stored` writes; what earlier versions wrote is a message, or a message and two lines.
    init(stored: String) {
        let lines = stored.split(separator: "\n", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        func line(_ number: Int) -> String? { lines.count > number && !lines[number].isEmpty ? lines[number] : nil }
        let finding = StoredJSON.value(Finding.self, line(3)) ?? Finding(line(0) ?? "")
        self.init(finding, said: line(1), detail: line(2))
    }

    func stored() throws -> String {
        let values = try finding.told.map { [try StoredJSON.text($0)] } ?? []
        let isAlone = values.isEmpty && said == nil && detail == nil
        return ([finding.message] + (isAlone ? [] : [said ?? "", detail ?? ""] + values)).joined(separator: "\n")
    }

    /// The text of the error in `d.error`.
    /// - Parameter isTold: the condition under which its message is part of it.
    static func sql(isTold: String = "true") -> String {
        let error = StoredJSON.sql("d.error")
        let finding = "CASE WHEN \(isTold) THEN \(error) -> 'finding' END"
        return """
            CASE WHEN \(isTold) THEN ifnull(\(error) ->> 'message', '') ELSE '' END
            || CASE WHEN coalesce(\(error) ->> 'said', \(error) ->> 'detail', \(finding)) IS NULL THEN ''
            ELSE char(10) || ifnull(\(error) ->> 'said', '') || char(10) || ifnull(\(error) ->> 'detail', '')
            || ifnull(char(10) || \(finding), '') END
            """
    }
}
