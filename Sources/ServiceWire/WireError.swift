package import TransferModel

/// A JSON-RPC error object: a number for JSON-RPC, the stable name in `data.code`, and a message for a person.
package struct WireError: Error, Codable, Hashable, Sendable {
    /// The content of `data`.
    package struct Details: Codable, Hashable, Sendable {
        package var code: RequestErrorCode
        /// The message with its commands as values; missing: it names none.
        package var advice: Advice?
    }

    package var code: Int
    package var message: String
    package var data: Details?

    package init(code: Int, _ error: RequestError) {
        self.code = code
        message = error.message
        data = Details(code: error.code, advice: error.advice)
    }

    /// With the number that belongs to the name.
    package init(_ error: RequestError) { self.init(code: error.code.number, error) }

    /// The line is not JSON.
    package static func unreadable(_ message: String) -> WireError {
        WireError(code: -32700, RequestError(.usage, message))
    }
    /// JSON, but no request.
    package static func invalidRequest(_ message: String) -> WireError {
        WireError(code: -32600, RequestError(.usage, message))
    }
    package static func unknownMethod(_ name: String) -> WireError {
        WireError(code: -32601, RequestError(.usage, "no method \(name): see Resources/protocol/README.md"))
    }

    /// The error as the client sees it; an engine that knows more codes than we do gives `internal` ones.
    package var requestError: RequestError {
        var error = RequestError(data?.code ?? .internal, message)
        error.advice = data?.advice
        return error
    }

    private enum CodingKeys: String, CodingKey { case code, message, data }

    package init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        code = try object.decode(Int.self, forKey: .code)
        message = try object.decode(String.self, forKey: .message)
        data = try? object.decodeIfPresent(Details.self, forKey: .data)
    }
}

extension RequestErrorCode {
    /// JSON-RPC 2.0 section 5.1: -32602 is "invalid params", -32603 "internal error", -32000…-32099 are ours. Append only.
    package var number: Int {
        switch self {
        case .usage: -32602
        case .internal: -32603
        case .noSuchObject: -32001
        case .refused: -32002
        case .engineUnreachable: -32003
        case .timedOutWaiting: -32004
        case .needsPerson: -32005
        case .queueLocked: -32006
        case .queueNewer: -32007
        case .queueCorrupt: -32008
        }
    }
}
