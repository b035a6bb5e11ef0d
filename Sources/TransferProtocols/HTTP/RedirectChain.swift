package import TransferModel
package import WireOperations

/// The address of a request after redirects, followed by hand so that nothing secret travels to another origin.
package struct RedirectChain: Hashable, Sendable {
    /// RFC 9110 names no limit; curl and browsers stop between 10 and 50.
    static let limit = 10

    /// The address that the task names.
    package let origin: HTTPAddress
    /// Address of the next request.
    package private(set) var address: HTTPAddress
    private var followed = 0

    package init(_ address: HTTPAddress) {
        origin = address
        self.address = address
    }

    /// Given fields and credentials were meant for the first origin alone.
    package var mayCarrySecrets: Bool { address.origin == origin.origin }

    /// Takes the step that a 3xx answer asks for.
    /// - Parameter keepsMethod: a 303 asks for a GET of something else, which is no answer to an upload.
    /// - Returns: why it cannot be taken; then nothing changed.
    package mutating func follow(_ answer: HTTPAnswer, keepsMethod: Bool) -> TransferError? {
        if keepsMethod, answer.status == 303 {
            return TransferError(
                .http, AnswerMeaning.finding(answer.status, host: address.server), httpStatus: answer.status)
        }
        guard let location = answer.field("location") else { return refused(answer, "but not where to go") }
        guard let next = address.resolving(HTTPAddress.encodingBlanks(location)) else {
            return refused(answer, "pointing to an address that is malformed or not http or https")
        }
        // Once encrypted, always encrypted.
        guard next.scheme == "https" || address.scheme == "http" else {
            return TransferError(
                .unsupported, "\(address.server) points to an unencrypted address",
                .queued("check the address, or queue it again with that one"), httpStatus: answer.status)
        }
        guard followed < Self.limit else {
            return TransferError(
                .tooManyRedirects, "\(origin.server) redirects again and again", .step("check the address"),
                httpStatus: answer.status)
        }
        followed += 1
        address = next
        return nil
    }

    /// Another path at the server that it has led to, with no more than may go there.
    func aside(to path: String) -> RedirectChain {
        var chain = self
        chain.address = HTTPAddress(address, target: path)
        return chain
    }

    private func refused(_ answer: HTTPAnswer, _ why: String) -> TransferError {
        TransferError(
            .badServerResponse, "\(address.server) answered \(answer.status), \(why)", .step("check the address"),
            httpStatus: answer.status)
    }
}
