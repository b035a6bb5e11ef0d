// ServiceWire: the control protocol as values: JSON-RPC 2.0, one object a line. `Resources/protocol/` says the same in words and schemas,
// and tests compare the two.
//
// For whom: TransferService answers it, MartletKit asks it. Which thread: any; values only. Start reading at `MethodTable` (what can be
// asked), then here (how a line looks), `LineFramer` (bytes into lines, with limits), the `…Messages` files (parameters and results),
// `Handshake` and `ProtocolVersion` (who understands whom), `WireError`.

import FoundationEssentials
package import TransferModel

/// A request's id: a number or a string, the client's choice; given back with the answer.
package enum RequestIdentifier: Hashable, Sendable, Codable {
    case number(Int64)
    case text(String)

    package init(from decoder: any Decoder) throws {
        let single = try decoder.singleValueContainer()
        if let number = try? single.decode(Int64.self) {
            self = .number(number)
        } else {
            self = .text(try single.decode(String.self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var single = encoder.singleValueContainer()
        switch self {
        case .number(let number): try single.encode(number)
        case .text(let text): try single.encode(text)
        }
    }
}

/// The head of a client's line, read before its parameters.
package struct WireRequestHead: Decodable, Sendable {
    package var jsonrpc: String
    /// Missing in a notification, which gets no answer.
    package var id: RequestIdentifier?
    package var method: String
}

/// The head of an engine's line: an answer with an id, or a notification with a method.
package struct AnswerHead: Decodable, Sendable {
    package var id: RequestIdentifier?
    package var method: String?
    package var error: WireError?
}

/// A request: JSON-RPC 2.0 section 4.
package struct WireRequest<Parameters: Codable>: Codable {
    package var jsonrpc = "2.0"
    package var id: RequestIdentifier
    package var method: MethodName
    package var params: Parameters

    package init(id: RequestIdentifier, method: MethodName, params: Parameters) {
        self.id = id
        self.method = method
        self.params = params
    }
}

/// The parameters of a line whose head is known; all of them have defaults when `params` is missing.
package struct RequestBody<Parameters: Decodable>: Decodable {
    package var params: Parameters?
}

/// A successful answer: JSON-RPC 2.0 section 5.
package struct WireAnswer<Value: Codable>: Codable {
    package var jsonrpc = "2.0"
    package var id: RequestIdentifier
    package var result: Value

    package init(id: RequestIdentifier, result: Value) {
        self.id = id
        self.result = result
    }
}

/// The answer to what could not be done. The id is `null` when the request could not be read.
package struct ErrorAnswer: Codable, Sendable {
    package var jsonrpc = "2.0"
    @OrNull package var id: RequestIdentifier?
    package var error: WireError

    package init(id: RequestIdentifier?, error: WireError) {
        _id = OrNull(wrappedValue: id)
        self.error = error
    }
}

/// Something the engine tells without being asked.
package struct Notification<Parameters: Codable>: Codable {
    package var jsonrpc = "2.0"
    package var method: NotificationName
    package var params: Parameters

    package init(method: NotificationName, params: Parameters) {
        self.method = method
        self.params = params
    }
}

/// JSON as it stands on the wire: one line an object, keys sorted, so that equal values are equal bytes.
package enum WireCoding {
    /// One line with its newline.
    package static func line(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var bytes = Array(try encoder.encode(value))
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// Reads one line.
    package static func value<Value: Decodable>(_ type: Value.Type, from line: [UInt8]) throws -> Value {
        try JSONDecoder().decode(type, from: Data(line))
    }

    /// Describes the fault of a line for its sender: the field's path and what was expected there. Quotes nothing of the line but
    /// field names, since a value may be secret.
    package static func fault(of error: any Error) -> String {
        func field(_ path: [any CodingKey]) -> String {
            path.isEmpty
                ? "the object" : path.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
        }
        switch error as? DecodingError {
        case .keyNotFound(let key, let context): return "\(field(context.codingPath + [key])) is missing"
        case .typeMismatch(_, let context): return "\(field(context.codingPath)) is of the wrong type"
        case .valueNotFound(_, let context): return "\(field(context.codingPath)) is null"
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            if let rule = context.underlyingError as? BrokenRule {
                return "\(field(context.codingPath)): \(rule.words)"
            }
            return "\(field(context.codingPath)) has a value that is not allowed"
        default: return "this is no JSON object"
        }
    }
}
