import TransferModel
import TransferProtocols
import WireOperations

/// Bytes of answers that are still kept for a batch as the server wrote them: a page for each of a million files would fill the disk. Of
/// further ones only the status is. A value of the batch's context.
struct AnswerRoom {
    /// For refusals; the failure's own message has the server's first words in any case.
    private var refusals: Int
    /// For answers to files that were taken, which their sender may want to read.
    private var receipts: Int

    static let usualForRefusals = 64 << 20
    static let usualForReceipts = 256 << 20

    init(refusals: Int = usualForRefusals, receipts: Int = usualForReceipts) {
        (self.refusals, self.receipts) = (refusals, receipts)
    }

    /// Takes the part of a refusal that is kept for people to read.
    mutating func keep(refusal answer: HTTPAnswer, body: [UInt8]) -> TransferResponse {
        Self.keep(TransferResponse(answer, body: body), status: answer.status, in: &refusals)
    }

    /// Takes the part of an answer to a file that was taken that is kept for people to read.
    mutating func keep(receipt response: TransferResponse) -> TransferResponse {
        Self.keep(response, status: response.status, in: &receipts)
    }

    private static func keep(
        _ response: @autoclosure () -> TransferResponse, status: Int, in room: inout Int
    ) -> TransferResponse {
        guard room > 0 else { return TransferResponse(status: status, headers: [], body: nil) }
        let response = response()
        room -= response.keptBytes
        return response
    }
}
