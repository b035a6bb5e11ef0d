import TransferModel
import WireOperations

extension UploadRemoval {
    /// The resources of an upload by tus. The one of a whole file may have become the file when it is full; parts never are the file.
    package init(_ point: TusResumePoint, endpoint: HTTPAddress) {
        let uploads = point.parts.compactMap(\.url)
        let whole = point.parts.count == 1 ? uploads.first : nil
        self.init(
            uploads.map { TusMessages.terminate($0, endpoint: endpoint) },
            after: whole.map { upload in
                Look(exchange: TusMessages.look(upload, endpoint: endpoint)) { answer in
                    answer.field("upload-offset").flatMap { FileSize.read($0) }.map { $0 >= point.length }
                }
            })
    }
}
