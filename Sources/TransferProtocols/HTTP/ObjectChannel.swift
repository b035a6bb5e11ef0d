package import TransferModel
package import WireOperations

/// A store's way of being asked about one object over HTTP: requests are signed, and a refusal may say what to ask otherwise (a region, a
/// clock). `GetDownload` fetches through it.
package protocol ObjectChannel: Hashable, Sendable {
    /// The object's URL, by what is known.
    var base: HTTPAddress { get }
    /// The signing of a request without a body.
    var signing: RequestSigning { get }
    /// Takes from the head of a refusal what it complains of. - Returns: what was learnt; `nil`: the answer means what it says.
    mutating func learn(_ answer: HTTPAnswer, at now: Timestamp) -> HostFacts?
    /// Reads a whole answer.
    /// - Parameter hasAccepted: the right to read was there before, so a 403 means that it is gone.
    mutating func meaning(_ end: ExchangeEnd, hasAccepted: Bool) -> ObjectAnswer
}

/// The meaning of a store's answer.
package enum ObjectAnswer: Sendable {
    case success
    /// The same request again: something was learnt, in the meantime or just now.
    case again(learnt: HostFacts?)
    case wait(WaitDemand)
    case fail(TransferError)
    /// None came.
    case silent(TransferError)
}
