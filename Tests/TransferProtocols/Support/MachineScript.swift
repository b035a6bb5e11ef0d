import TestSupport
import Testing
import TransferModel
import TransferProtocols
import WireOperations

/// Times of the tests: attempts begin at noon.
let noon = HTTPDate.parse("Sat, 21 Nov 2026 12:00:00 GMT")!
/// The same as a header field.
let noonText = "Sat, 21 Nov 2026 12:00:00 GMT"
let elevenText = "Sat, 21 Nov 2026 11:00:00 GMT"

let lost = TransferError(.networkConnectionLost, "lost")
let refused = TransferError(.cannotConnectToHost, "refused")
let badCertificate = TransferError(.tlsFailure, "certificate")

/// Header fields written as `Name: value`.
func fields(_ lines: [String]) -> [HeaderField] {
    lines.map { line in
        let parts = line.split(separator: ":", maxSplits: 1)
        return HeaderField(String(parts[0]), String(parts[1].drop { $0 == " " }))
    }
}

extension ProtocolAction {
    /// What a table shows. That the source is compared, and a name claimed, is tested for itself.
    var isShown: Bool {
        switch self {
        case .compareSource, .claimName: false
        default: true
        }
    }
}

extension [ProtocolAction] {
    /// Whether the source is compared right before the last request.
    var comparesFirst: Bool {
        guard let last = lastIndex(where: { if case .perform = $0 { true } else { false } }), last > 0 else {
            return false
        }
        return if case .compareSource = self[last - 1] { true } else { false }
    }
}

/// What actions come to, in words that a table can hold. What a person reads of a failure is noted for `.tells`.
func words(_ actions: [ProtocolAction]) -> [String] {
    for action in actions {
        switch action {
        case .fail(let error), .mismatch(_, let error): Telling.note(error.message)
        case .wait(let demand): Telling.note(demand.error.message)
        default: break
        }
    }
    return actions.filter(\.isShown).map { action in
        switch action {
        case .perform(let id, .http(let exchange)):
            (["\(id.rawValue) \(exchange.method.rawValue) \(exchange.url.text)"]
                + exchange.headers.filter { exchange.method != .get || $0.name != "Want-Repr-Digest" }
                .map { "\($0.name): \($0.value)" } + (exchange.mayCarrySecrets ? [] : ["bare"]))
                .joined(separator: " | ")
        case .abandon(let id): "abandon \(id.rawValue)"
        case .openGate(let id, let gate):
            "open \(id.rawValue) at \(gate.offset) skip \(gate.skip) of \(gate.total.map(String.init) ?? "?")"
                + (gate.isBounded ? "" : " or more")
        case .perform(let id, .ftp(let exchange)): "\(id.rawValue) \(exchange)"
        case .perform(let id, .sftp(let operation)): "\(id.rawValue) \(operation)"
        case .perform(let id, .sftpDigest(let handle, let size)): "\(id.rawValue) digest(\(handle), size: \(size))"
        case .persist(let point): persisted(point)
        case .accepted(let bytes): "accepted \(bytes)"
        case .learned(let facts): "learned \(learnt(facts))"
        case .digestRange(let range, let algorithms): "digest \(range) \(algorithms.joined(separator: ","))"
        case .wake(let timer, let after): "wake \(timer) \(after)"
        case .resumed(let offset): "resumed \(offset)"
        case .listed(let entries): "listed \(entries.count)"
        case .startOver(let reason, _): "over: \(reason)"
        case .doubtAbsence(let isOutcome): isOutcome ? "doubt what became of it" : "doubt"
        case .digestSource: "digest"
        case .compareSource: "compare"
        case .claimName(let path): "claim \(path)"
        case .finish(let receipt):
            "finish \(receipt.bytes) \(receipt.verified)" + (receipt.skipped ? " skipped" : "")
                + (receipt.foundThere ? " found" : "")
        case .mismatch(let receipt, let error): "mismatch \(receipt.bytes) \(error.code)"
        case .fail(let error): "fail \(error.code)" + (error.httpStatus.map { " \($0)" } ?? "")
        case .wait(let demand):
            "wait \(demand.reason) \(demand.error.code)" + (demand.retryAfter.map { " \($0)" } ?? "")
        }
    }
}

private func persisted(_ point: ResumePoint) -> String {
    if let get = point.content(GetResumePoint.self) {
        return "persist \(get.name) \(get.offset) \(get.version.etag ?? "-")"
    }
    return "persist \(point.kind)" + (point.secret.map { " secret \($0)" } ?? "")
}

/// What is known, by name, in the order of the names.
private func learnt(_ facts: HostFacts) -> String {
    Mirror(reflecting: facts).children.compactMap { child in
        // When it was learnt is the time of the answer, in every row.
        guard child.label != "uploadByAt", let optional = Mirror(reflecting: child.value).children.first else {
            return nil
        }
        return "\(child.label ?? "")=\(optional.value)"
    }.joined(separator: " ")
}

/// The end of an exchange that was answered.
func answered(
    _ status: Int, _ lines: [String] = [], sent: Int64 = 1000, body: String = "", failure: TransferError? = nil
) -> ExchangeEnd {
    ExchangeEnd(
        answer: HTTPAnswer(status: status, headers: fields(lines)), body: Array(body.utf8), bytesSent: sent,
        failure: failure.map { .network($0) }, at: noon)
}

/// The end of an exchange without an answer.
func unanswered(_ error: TransferError, sent: Int64) -> ExchangeEnd {
    ExchangeEnd(answer: nil, bytesSent: sent, failure: .network(error), at: noon)
}
