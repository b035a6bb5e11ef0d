package import TransferModel
package import WireOperations

extension TransferResponse {
    /// Bytes of a body that are kept.
    package static let longestBody = 64 << 10
    /// Bytes of header fields that are kept; those behind them are left out.
    private static let longestHead = 16 << 10

    /// The part of an answer that may be shown and stored: no cookies, no queries, nothing that moves a terminal's cursor.
    package init(_ answer: HTTPAnswer, body: [UInt8]) {
        var room = Self.longestHead
        let fields = answer.headers.prefix { field in
            room -= field.name.utf8.count + field.value.utf8.count
            return room >= 0
        }
        let headers = fields.compactMap { field -> HeaderField? in
            switch field.name.lowercased() {
            case "set-cookie", "set-cookie2": nil
            case "location", "content-location":
                HeaderField(Self.harmless(field.name), Self.harmless(Self.withoutQuery(field.value)))
            default: HeaderField(Self.harmless(field.name), Self.harmless(field.value))
            }
        }
        let text = Self.lines(body.prefix(Self.longestBody).filter { $0 != 0 })
        self.init(status: answer.status, headers: headers, body: body.isEmpty ? nil : text)
    }

    /// Bytes that it takes in the queue, about.
    package var keptBytes: Int {
        headers.reduce(body?.utf8.count ?? 0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    }

    /// A body stays a document: its line ends and tabs move nothing that they should not.
    private static func lines(_ body: [UInt8]) -> String {
        body.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            return line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
                .map { RawPath(Array($0)).displayed }.joined(separator: "\t")
        }.joined(separator: "\n")
    }

    private static func withoutQuery(_ url: String) -> String {
        String(PercentEncoding.ofMarks(in: url).prefix { $0 != "?" })
    }

    private static func harmless(_ text: String) -> String { RawPath(text).displayed }
}

extension ExchangeFailure {
    /// The error to tell a person.
    var error: TransferError {
        switch self {
        case .network(let error): error
        case .sink(let error, waits: _): error
        }
    }

    /// False when there was never a connection that a request could have gone over.
    package var mayHaveReachedServer: Bool {
        switch error.code {
        case .cannotFindHost, .cannotConnectToHost, .notConnectedToInternet, .tlsFailure, .pinMismatch: false
        // Our own side refused to send it.
        case .unsupported: error.httpStatus != nil
        default: true
        }
    }
}
