import TransferModel

/// Faults at S3, in words for a person.
extension TransferError {
    static func noRegion(_ region: String) -> TransferError {
        TransferError(
            .unsupported, "\"\(RawPath(region).displayed)\" is no region of S3: check AWS_REGION, then queue it again")
    }

    /// Keys are Unicode (https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html). What services do with others
    /// differs from one to the next, and lists of them are XML, which cannot hold them.
    static func noKey(_ key: RawPath) -> TransferError {
        TransferError(.unsupported, "\(key.displayed) \(strangeName), and a key of S3 has to be: \(renameAdvice)")
    }

    static func damagedOnTheWay(_ host: String) -> TransferError {
        TransferError(
            .integrity,
            "\(host) got other bytes than were sent, three times: check the network, the memory and the disk, then retry"
        )
    }

    static func noComparableTag(_ host: String) -> TransferError {
        .unverifiable(at: host, "took the file but its tag is not the MD5 of it")
    }

    static func contested(at host: String) -> TransferError {
        TransferError(
            .networkConnectionLost, "somebody else writes the same object at \(host): Martlet tries again by itself")
    }

    static func losesUploads(at host: String) -> TransferError {
        TransferError(
            .badServerResponse,
            "\(host) does not know the upload any more that it had begun, though nobody here has ended it: look at its rules for "
                + "unfinished uploads and whether something else there clears them away, then retry")
    }

    static func cannotProtect(at host: String) -> TransferError {
        TransferError(
            .unsupported,
            "\(host) can neither tell what is there nor refuse to replace it: \(replaceAdvice)")
    }

    static var tooLargeForS3: TransferError {
        TransferError(.unsupported, "S3 takes no file of that size: split it, then queue the pieces")
    }

    static func unreadable(_ host: String) -> TransferError {
        TransferError(.badServerResponse, "\(host) sent an answer that cannot be read: Martlet tries again by itself")
    }
}
