import TransferModel

/// Faults at S3, in words for a person.
extension TransferError {
    static func noRegion(_ region: String) -> TransferError {
        TransferError(
            .unsupported, "\"\(RawPath(region).displayed)\" is no region of S3",
            .queued("check AWS_REGION, then queue it again"))
    }

    /// Keys are Unicode (https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html). What services do with others
    /// differs from one to the next, and lists of them are XML, which cannot hold them.
    static func noKey(_ key: RawPath) -> TransferError {
        TransferError(.unsupported, of: key, "is not UTF-8, and a key of S3 has to be", .rename)
    }

    static func noComparableTag(_ host: String) -> TransferError {
        .unverifiable(at: host, "took the file but its tag is not the MD5 of it")
    }

    static func losesUploads(at host: String) -> TransferError {
        TransferError(
            .badServerResponse,
            "\(host) does not know the upload any more that it had begun, though nobody here has ended it",
            .thenRetry("look at its rules for unfinished uploads and whether something else there clears them away"))
    }

    /// - Parameter seconds: how far the server's clock is ahead of ours.
    static func clocksDisagree(by seconds: Int64, _ host: String, httpStatus: Int) -> TransferError {
        let hours = seconds.magnitude / 3600
        let apart = hours < 72 ? "\(hours) hours" : "\(hours / 24) days"
        return TransferError(
            .http, "the clock of \(host) is \(apart) \(seconds < 0 ? "behind" : "ahead of") the one of this machine",
            .thenRetry("set the clock that is wrong"), httpStatus: httpStatus)
    }

    static var tooLargeForS3: TransferError {
        TransferError(.unsupported, "S3 takes no file of that size", .queued("split it and queue the pieces"))
    }
}
