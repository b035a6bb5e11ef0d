import TransferModel
import WireOperations

/// Asks an address of the web by OPTIONS which upload protocol its server speaks.
struct WebProbe: Inquirer {
    enum Question: String, Hashable, Sendable {
        /// Asks for the upload protocol that the server speaks, if any.
        case any
        case tus, ietf, put

        /// - Parameter way: the protocol that a person named.
        init(_ way: HTTPUploadProtocol?) {
            self =
                switch way {
                case .tus: .tus
                case .ietf: .ietf
                case .put, .post, .form: .put
                case nil: .any
                }
        }
    }

    private let address: HTTPAddress
    private let question: Question
    private var uploads = UploadProbe(takesTus: true)

    init(_ address: HTTPAddress, asks question: Question) { (self.address, self.question) = (address, question) }

    mutating func begin() -> InquiryStep {
        .ask(ResumableMessages.options(RedirectChain(address), version: uploads.asking))
    }

    mutating func answered(_ end: ExchangeEnd, _ found: inout PlaceFindings) -> InquiryStep {
        guard let answer = end.answer else { return .broken(end.failure?.error ?? .noAnswer(address)) }
        switch uploads.read(answer, host: address.server, at: end.at) {
        case .again: return begin()
        case .wait(let demand): return .over(.wait(demand))
        case .tus: found.protocolName = ProtocolFacts.tus.id
        case .resumable, .speaks: found.protocolName = ProtocolFacts.ietf.id
        case .moved: found.protocolName = ProtocolFacts.put.id
        case .nothing:
            // 404 and 405 are what many servers say to OPTIONS alone; a 403 is meant.
            if answer.status == 403,
                let refusal = AnswerMeaning(answer, host: address.server, hasAccepted: false, at: end.at).refusal
            {
                return .over(refusal)
            }
            found.protocolName = ProtocolFacts.put.id
            found.writable = Self.allowsPut(answer)
        }
        guard question == .any || question == .put || found.protocolName == question.rawValue else {
            return .fail(
                TransferError(
                    .unsupported, "\(address.server) does not say that it speaks \(question.rawValue)",
                    .step("choose another --protocol")))
        }
        if question == .put { found.protocolName = ProtocolFacts.put.id }
        return .done
    }

    /// `Allow` says it; without it nobody knows.
    private static func allowsPut(_ answer: HTTPAnswer) -> Bool? {
        guard answer.isSuccess, let allowed = answer.field("allow") else { return nil }
        let methods = allowed.split(separator: ",").map { $0.filter { $0 != " " }.uppercased() }
        return methods.contains("PUT") ? true : nil
    }
}
