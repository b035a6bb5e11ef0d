import TransferModel
import WireOperations

@testable import TransferProtocols

/// A machine in a test: told what happens, it answers in words. An end belongs to the exchange that began last, unless it is named.
struct Drive {
    private(set) var machine: any ProtocolMachine
    private var last = 0

    init(_ machine: any ProtocolMachine) { self.machine = machine }

    mutating func tell(_ event: ProtocolEvent) -> [String] {
        let actions = machine.handle(event)
        for case .perform(let id, _) in actions { last = id.rawValue }
        return actions.flatMap(brief)
    }

    mutating func begin() -> [String] { tell(.began(at: noon)) }

    mutating func end(_ end: ExchangeEnd, of id: Int? = nil) -> [String] {
        tell(.ended(ExchangeID(rawValue: id ?? last), end))
    }

    mutating func interim(_ lines: [String], status: Int = 104) -> [String] {
        tell(.interim(ExchangeID(rawValue: last), HTTPAnswer(status: status, headers: fields(lines)), at: noon))
    }

    mutating func fire() -> [String] { tell(.timerFired(.repeatRequest)) }

    /// Begins, ends one exchange after the other, and gives the words that follow the last.
    static func run(_ machine: any ProtocolMachine, _ ends: [ExchangeEnd]) -> [String] {
        var drive = Drive(machine)
        var words = drive.begin()
        for end in ends {
            if words.contains(where: { $0.hasPrefix("wake") }) { _ = drive.fire() }
            words = drive.end(end)
        }
        return words
    }
}

/// As `words`, with what a request sends instead of the fields that every request of its kind has.
private func brief(_ action: ProtocolAction) -> [String] {
    guard case .perform(let id, .http(let exchange)) = action else { return words([action]) }
    let usual = [
        "tus-resumable", "content-type", "upload-metadata", "if-none-match", "overwrite",
        "upload-draft-interop-version",
    ]
    var words = ["\(id.rawValue) \(exchange.method.rawValue) \(exchange.url.text)"]
    // A question names it on purpose; of an upload it is a part unless something else was wanted.
    let hidden = exchange.method == .head ? usual : usual + ["want-repr-digest"]
    words += exchange.headers.filter { !hidden.contains($0.name.lowercased()) }.map { "\($0.name): \($0.value)" }
    if case .source(let range) = exchange.body { words.append("\(range)") }
    if !exchange.mayCarrySecrets { words.append("bare") }
    return [words.joined(separator: " | ")]
}

/// All fields of the requests among the actions.
func headers(_ actions: [ProtocolAction]) -> [[String]] {
    actions.compactMap { action in
        guard case .perform(_, .http(let exchange)) = action else { return nil }
        return exchange.headers.map { "\($0.name): \($0.value)" }
    }
}

func subject(
    _ size: Int64, ifExists: ExistingFilePolicy = .fail, verify: VerificationWish? = nil, begun: Timestamp? = nil,
    hasChanged: Bool = false
) -> UploadSubject {
    UploadSubject(
        name: RawPath("f"), size: size, ifExists: ifExists, verify: verify, begunBefore: begun,
        token: "0123456789abcdef0123456789abcdef", hasChanged: hasChanged)
}
