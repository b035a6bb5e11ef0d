package import TransferModel

/// Faults at the destination that a person has to decide about: one maker of each sentence, for all protocols.
extension TransferError {
    /// Something else has the name.
    static func exists(at host: String, httpStatus: Int? = nil) -> TransferError {
        TransferError(
            .destinationExists, "a file of that name is there already, at \(host)", .replacing("move it, or "),
            httpStatus: httpStatus)
    }

    /// A folder has the name that the file was to get.
    static func folderStands(at host: String) -> TransferError {
        TransferError(
            .destinationExists, "a folder of that name is there already, at \(host)", .anotherName)
    }

    /// A state that no server and no person can bring about: a fault of ours.
    package static func bug(_ what: String) -> TransferError {
        TransferError(.internal, what, .log("report it with the lines of "))
    }

    /// It may be there, by an attempt whose end nobody saw.
    static func unsure(at host: String, _ why: String) -> TransferError {
        TransferError(
            .unknownOutcome, "an earlier attempt may have reached \(host), but \(why)",
            .replacing("look there; if it is not whole, ", next: .thenRetry))
    }

    /// The source changed after its earlier version may have got the final name.
    static func unsureOfEarlier(at host: String) -> TransferError {
        unsure(at: host, "nothing tells whether what is there is an earlier version of the file")
    }

    static func damagedOnTheWay(_ host: String) -> TransferError {
        TransferError(
            .integrity, "\(host) got other bytes than were sent, three times",
            .thenRetry("check the network, the memory and the disk"))
    }

    static func contested(at host: String) -> TransferError {
        TransferError(.networkConnectionLost, "\(host) reports another write of the same object", .again)
    }

    static func cannotProtect(at host: String) -> TransferError {
        TransferError(.unsupported, "\(host) can neither tell what is there nor refuse to replace it", .replacing())
    }

    static func unreadable(_ host: String) -> TransferError {
        TransferError(.badServerResponse, "\(host) sent an answer that cannot be read", .again)
    }

    /// The bytes that arrived were compared, and are not those that were sent.
    static func differing(at host: String, _ why: String) -> TransferError {
        TransferError(
            .integrity, "\(host) \(why)",
            .thenRetry("when it comes again, look at disks, memory and what lies on the way; now remove it there"))
    }

    /// A download's file changed at the server, and the person wants the version that was begun.
    static func changedAtServer(_ host: String) -> TransferError {
        TransferError(
            .sourceChanged, "the file changed at \(host) since its download began",
            .retry("retry to fetch it as it is now"))
    }

    /// A download's file was there when its first byte came, and no more when all of it had come.
    /// - Parameters:
    ///   - aside: the server's words.
    ///   - status: of HTTP.
    static func wentAway(
        at host: String, _ code: TransferErrorCode = .http, status: Int? = nil, aside: String? = nil
    ) -> TransferError {
        TransferError(
            code, "the file went away at \(host) while it came, so nothing shows that all of it is one version",
            aside: aside.flatMap { $0.isEmpty ? nil : $0 },
            .thenRetry("put it back there; a link that works only once wants --verify none"),
            httpStatus: status)
    }

    /// A download's file has a size that no file can have.
    static func impossibleLength(at host: String, status: Int? = nil) -> TransferError {
        TransferError(
            .badServerResponse, "\(host) told a length that cannot be", .step("check the address and the server"),
            httpStatus: status)
    }

    /// A download's file is written to as fast as it is read.
    static func changesWhileRead(at host: String) -> TransferError {
        TransferError(.badServerResponse, "the file at \(host) changes while it is read", .asItComes)
    }

    /// A download's file, which has not changed, has not the length that its server tells.
    static func lengthless(at host: String, _ size: Int64) -> TransferError {
        TransferError(
            .unsupported,
            "\(host) says that the file has \(size) bytes and gives another number of them, as files of /proc do",
            .queued("queue it again with --verify none, which takes the file as it comes"))
    }

    /// A server names a host or a scheme for the upload that it has made which a login may not follow to.
    static func unusableUpload(at host: String, status: Int) -> TransferError {
        TransferError(
            .unsupported, "\(host) made the upload at an address that cannot be used",
            .step("check the server's settings behind its proxy"), httpStatus: status)
    }

    /// The check that was asked for cannot be made.
    package static func unverifiable(at host: String, _ why: String) -> TransferError {
        TransferError(.integrity, "\(host) \(why)", .queued("look there, or queue it again with a weaker --verify"))
    }

    /// A server answers 412 to all that is tried, and nothing that is to be seen there explains it.
    static func keepsRefusing(at host: String) -> TransferError {
        TransferError(
            .http, "\(host) refuses the file again and again (412 Precondition Failed), and nothing there shows why",
            .thenRetry("look at its log"), httpStatus: 412)
    }

    /// Whole files go before they have their names, time after time.
    /// - Parameter isLast: it is not sent again by itself.
    static func keepsVanishing(at host: String, isLast: Bool = false) -> TransferError {
        let look = "look whether something clears up or scans there"
        return TransferError(
            .badServerResponse,
            isLast
                ? "\(host) took away again and again what was sent, before it had its name"
                : "\(host) takes away what was sent before it has its name",
            isLast ? .thenRetry(look) : .again(look))
    }

    /// A server that cannot be gone on with, time after time.
    static func keepsStartingOver(at host: String, _ reason: String) -> TransferError {
        TransferError(.badServerResponse, "\(reason), again and again (at \(host))", .again)
    }
}

extension Remedy {
    /// The way to have a file that is written to all the time.
    package static let asItComes = Remedy.again(
        "if that goes on, cancel it and queue it with --verify none, which takes the file as it comes")
}
