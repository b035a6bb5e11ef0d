import TransferModel
import WireOperations

extension UploadRemoval {
    /// The resource of an upload of the IETF draft. It may have become the file when it is complete, or is full and the server does not
    /// say whether it is complete.
    package init(_ point: ResumableResumePoint, address: HTTPAddress) {
        self.init(
            point.url.map { [ResumableMessages.cancel($0, version: point.version, target: address)] } ?? [],
            after: point.url.map { upload in
                Look(exchange: ResumableMessages.look(upload, version: point.version, target: address)) { answer in
                    ResumableAnswer.completion(answer) ?? ResumableAnswer.offset(answer).map { $0 >= point.length }
                }
            })
    }
}
