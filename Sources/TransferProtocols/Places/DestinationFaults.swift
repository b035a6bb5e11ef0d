package import TransferModel

/// Faults at the destination that a person has to decide about: one maker of each sentence, for all protocols.
extension TransferError {
    /// Something else has the name.
    static func exists(at host: String, httpStatus: Int? = nil) -> TransferError {
        TransferError(
            .destinationExists, "another file is there already, at \(host): move it, or \(replaceAdvice)",
            httpStatus: httpStatus)
    }

    /// It may be there, by an attempt whose end nobody saw.
    static func unsure(at host: String, _ why: String) -> TransferError {
        TransferError(
            .unknownOutcome,
            "an earlier attempt may have reached \(host), but \(why): look there; if it is not whole, \(replaceAdvice), then retry"
        )
    }

    /// The bytes that arrived were compared, and are not those that were sent.
    static func differing(at host: String, _ why: String) -> TransferError {
        TransferError(
            .integrity,
            "\(host) \(why): when it comes again, look at disks, memory and what lies on the way; now remove it there, then retry"
        )
    }

    /// A download's file changed at the server, and the person wants the version that was begun.
    static func changedAtServer(_ host: String) -> TransferError {
        TransferError(
            .sourceChanged, "the file changed at \(host) since its download began: retry to fetch it as it is now")
    }

    /// The check that was asked for cannot be made.
    package static func unverifiable(at host: String, _ why: String) -> TransferError {
        TransferError(.integrity, "\(host) \(why): look there, or queue it again with a weaker --verify")
    }

    /// A server answers 412 to all that is tried, and nothing that is to be seen there explains it.
    static func keepsRefusing(at host: String) -> TransferError {
        TransferError(
            .http,
            "\(host) refuses the file again and again (412 Precondition Failed), and nothing there shows why: look at its log, then retry",
            httpStatus: 412)
    }

    /// Whole files go before they have their names, time after time.
    static func keepsVanishing(at host: String) -> TransferError {
        TransferError(
            .badServerResponse,
            "\(host) takes away what was sent before it has its name: look whether something clears up or scans there; Martlet tries again by itself"
        )
    }

    /// A server that cannot be gone on with, time after time.
    static func keepsStartingOver(at host: String, _ reason: String) -> TransferError {
        TransferError(
            .badServerResponse, "\(reason), again and again (at \(host)): Martlet tries again by itself")
    }
}
