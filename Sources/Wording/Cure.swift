package import TransferModel

/// The meaning of a failure or a wait, and its remedy, in words for a person: the one table behind `martlet why` and the
/// screen's page of problems. What a server or the system said of one file comes first; this is for what it leaves open.
package struct Cure: Sendable, Hashable {
    /// A sentence.
    package var meaning: String
    /// The step before another try; `nil`: only try again.
    package var remedy: Remedy?

    init(_ meaning: String, _ remedy: Remedy? = nil) { (self.meaning, self.remedy) = (meaning, remedy) }
}

extension TransferErrorCode {
    /// - Parameter scheme: some of it depends on how the server is spoken to; `nil`: it is not known.
    package func cure(of scheme: TransferScheme? = nil) -> Cure {
        switch self {
        case .pinMismatch where scheme?.facts.login == .ssh:
            Cure(
                "Its key is not known here, or not the known one; nothing was sent to it.",
                .step("run ssh with its name once and compare the key, before anything else"))
        case .cancelledByUser: Cure("Somebody cancelled it.")
        case .sessionRemoved:
            Cure("The session that it belonged to was removed.", .queued("queue it again in another session"))
        case .dependencyFailed: Cure("It was to follow a batch that failed.", .step("mend that batch first"))
        case .sourceMissing: Cure("It is not where it was when it was queued.", .step("put it back"))
        case .sourceChanged:
            Cure(
                "It was written to while it was sent, or after it was queued; no copy of it would have been faithful.",
                .step("let the writing end"))
        case .sourceUnreadable: Cure("You are not allowed to read it.", .step("make it readable for you"))
        case .destinationExists:
            Cure(
                "Something of that name is there already, and nothing was to be overwritten.",
                .replacing("move what is there, or "))
        case .duplicateName:
            Cure(
                "Another file of this batch has its name at the destination: only one of the two can lie there.",
                .queued("rename one of the two and queue it again"))
        case .destinationUnwritable:
            Cure("It cannot be written where it is to go.", .step("make that folder, or make it writable for you"))
        case .diskFull: Cure("The disk that it is to go to is full.", .step("make room there"))
        case .notConnectedToInternet: Cure("This machine had no network.", .step("connect this machine to the network"))
        case .cannotFindHost:
            Cure(
                "Nobody knows a machine of that name.",
                .queued("check the spelling of its name, and queue it again if it is wrong"))
        case .cannotConnectToHost:
            Cure(
                "The machine is off, or nothing listens there, or a firewall is between.",
                .step("check address and port"))
        case .networkConnectionLost:
            Cure("The connection broke, again and again.", .step("check the network in between"))
        case .timedOut: Cure("Nothing came back for too long.", .step("check that the server is well"))
        case .tooManyRedirects:
            Cure("The server sends on from one address to the next.", .queued("queue it again with the last address"))
        case .tlsFailure:
            Cure(
                "No secure connection to it could be made; nothing was sent to it.",
                .step("check the address, its certificate and the clock of this machine"))
        case .pinMismatch:
            Cure(
                "It is not the server whose key you named; nothing was sent to it.",
                .step("ask who runs it, before anything else"))
        case .permissionDenied: Cure("The server does not let you do this.", .step("ask who runs it for the right to"))
        case .http: Cure("The server refused it.", .step("see what it answered"))
        case .badServerResponse:
            Cure("What the server answered makes no sense.", .step("check that the address is the right one"))
        case .integrity:
            Cure(
                "What lies there under its name is not known to be what was sent: do not rely on it.",
                .step("check the disks and the memory at both ends if it happens again"))
        case .unknownOutcome: Cure("Nobody can tell whether it arrived.", .step("look whether it is there"))
        case .gaveUp: Cure("It was tried as often as it was to be.")
        case .unsupported:
            Cure("This cannot be done with this server.", .queued("queue it again without what it cannot do"))
        case .notThere:
            Cure(
                "All of it was sent and confirmed, but its server does not list it as it was sent.", .step("look there")
            )
        case .tooManyOpenFiles:
            Cure(
                "This machine has no file descriptor, or no thread, left for it.",
                .step(
                    "raise the limit (ulimit -n or -u, LimitNOFILE or TasksMax of the service) or lower --transfers"))
        case .internal: Cure("This is a fault of Martlet itself.", .log("report it with the lines of "))
        }
    }
}
