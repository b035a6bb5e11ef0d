import TransferModel
import WireOperations

/// Asks a server one question after the other and changes nothing there. A protocol brings the questions (`Inquirer`), this is the machine
/// around them. Finished means that all of them were answered.
package struct Inquiry<Found: Sendable>: ProtocolMachine {
    private enum State {
        /// Next: `asking`, `over`.
        case ready
        /// Next: itself (a further question), `over`.
        case asking(ExchangeID)
        /// The last action was said.
        case over
    }

    private var inquirer: any Inquirer<Found>
    private var state = State.ready
    private var lastID = 0
    /// The findings so far; whole when the machine has finished.
    package private(set) var found: Found

    init(_ inquirer: any Inquirer<Found>, found: Found) { (self.inquirer, self.found) = (inquirer, found) }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        switch (state, event) {
        case (.ready, .began): perform(inquirer.begin())
        case (.asking(let id), .ended(let ended, let end)) where ended == id: perform(inquirer.answered(end, &found))
        case (.asking(let id), .ftpEnded(let ended, let end)) where ended == id:
            perform(inquirer.answered(end, &found))
        case (.asking(let id), .sftpEnded(let ended, let end)) where ended == id:
            perform(inquirer.answered(end, &found))
        default: []
        }
    }

    private mutating func perform(_ step: InquiryStep) -> [ProtocolAction] {
        switch step.next {
        case .ask(let exchange):
            lastID += 1
            state = .asking(ExchangeID(rawValue: lastID))
            return step.before + [.perform(ExchangeID(rawValue: lastID), exchange)]
        case .over(let action):
            state = .over
            return step.before + [action]
        }
    }
}

/// The questions of one protocol, and the meaning of their answers. It has the answers of one wire.
package protocol Inquirer<Found>: Sendable {
    associatedtype Found: Sendable

    mutating func begin() -> InquiryStep
    mutating func answered(_ end: ExchangeEnd, _ found: inout Found) -> InquiryStep
    mutating func answered(_ end: FTPEnd, _ found: inout Found) -> InquiryStep
    mutating func answered(_ end: SFTPEnd, _ found: inout Found) -> InquiryStep
}

extension Inquirer {
    package mutating func answered(_ end: ExchangeEnd, _ found: inout Found) -> InquiryStep { .otherWire }
    package mutating func answered(_ end: FTPEnd, _ found: inout Found) -> InquiryStep { .otherWire }
    package mutating func answered(_ end: SFTPEnd, _ found: inout Found) -> InquiryStep { .otherWire }
}

/// The next step of an inquiry.
package struct InquiryStep: Sendable {
    enum Next: Sendable {
        case ask(Exchange)
        case over(ProtocolAction)
    }

    /// Told first.
    var before: [ProtocolAction] = []
    let next: Next

    static func ask(_ exchange: Exchange) -> InquiryStep { InquiryStep(next: .ask(exchange)) }

    static func over(_ action: ProtocolAction) -> InquiryStep { InquiryStep(next: .over(action)) }

    static func fail(_ error: TransferError) -> InquiryStep { over(.fail(error)) }

    /// A failure that time may mend waits for that.
    static func broken(_ error: TransferError) -> InquiryStep {
        error.isRetryable ? over(.wait(WaitDemand(.backoff, error))) : fail(error)
    }

    /// All is answered.
    static var done: InquiryStep { over(.finish(.removed)) }

    func after(_ actions: [ProtocolAction]) -> InquiryStep { InquiryStep(before: actions + before, next: next) }

    fileprivate static var otherWire: InquiryStep {
        fail(.bug("an answer of another transport came"))
    }
}
