/// The meaning of a failure or a wait, and its remedy, in words for a person: the one table behind `martlet why` and the
/// screen's page of problems. What a server or the system said of one file comes first; this is for what it leaves open.
package struct Cure: Sendable, Hashable {
    /// A sentence.
    package var meaning: String
    /// The step before another try: an imperative without an end mark; `nil`: only try again.
    package var remedy: String?

    init(_ meaning: String, _ remedy: String? = nil) { (self.meaning, self.remedy) = (meaning, remedy) }
}

extension TransferErrorCode {
    /// - Parameter scheme: some of it depends on how the server is spoken to; `nil`: it is not known.
    package func cure(of scheme: TransferScheme? = nil) -> Cure {
        switch self {
        case .pinMismatch where scheme == .sftp:
            Cure(
                "Its key is not known here, or not the known one; nothing was sent to it.",
                "run ssh with its name once and compare the key, before anything else")
        case .cancelledByUser: Cure("Somebody cancelled it.")
        case .sessionRemoved: Cure("The session that it belonged to was removed.", "queue it again in another session")
        case .dependencyFailed: Cure("It was to follow a batch that failed.", "mend that batch first")
        case .sourceMissing: Cure("It is not where it was when it was queued.", "put it back")
        case .sourceChanged:
            Cure(
                "It was written to while it was sent, or after it was queued; no copy of it would have been faithful.",
                "let the writing end")
        case .sourceUnreadable: Cure("You are not allowed to read it.", "make it readable for you")
        case .destinationExists:
            Cure(
                "Something of that name is there already, and nothing was to be overwritten.",
                "move what is there, or \(TransferError.replaceAdvice)")
        case .destinationUnwritable:
            Cure("It cannot be written where it is to go.", "make that folder, or make it writable for you")
        case .diskFull: Cure("The disk that it is to go to is full.", "make room there")
        case .notConnectedToInternet: Cure("This machine had no network.", "connect this machine to the network")
        case .cannotFindHost:
            Cure(
                "Nobody knows a machine of that name.",
                "check the spelling of its name, and queue it again if it is wrong")
        case .cannotConnectToHost:
            Cure("The machine is off, or nothing listens there, or a firewall is between.", "check address and port")
        case .networkConnectionLost: Cure("The connection broke, again and again.", "check the network in between")
        case .timedOut: Cure("Nothing came back for too long.", "check that the server is well")
        case .tooManyRedirects:
            Cure("The server sends on from one address to the next.", "queue it again with the last address")
        case .tlsFailure:
            Cure(
                "No secure connection to it could be made; nothing was sent to it.",
                "check the address, its certificate and the clock of this machine")
        case .pinMismatch:
            Cure(
                "It is not the server whose key you named; nothing was sent to it.",
                "ask who runs it, before anything else")
        case .permissionDenied: Cure("The server does not let you do this.", "ask who runs it for the right to")
        case .http: Cure("The server refused it.", "see what it answered")
        case .badServerResponse:
            Cure("What the server answered makes no sense.", "check that the address is the right one")
        case .integrity:
            Cure(
                "What lies there under its name is not known to be what was sent: do not rely on it.",
                "check the disks and the memory at both ends if it happens again")
        case .unknownOutcome: Cure("Nobody can tell whether it arrived.", "look whether it is there")
        case .gaveUp: Cure("It was tried as often as it was to be.")
        case .unsupported: Cure("This cannot be done with this server.", "queue it again without what it cannot do")
        case .notThere:
            Cure("All of it was sent and confirmed, but its server does not list it as it was sent.", "look there")
        case .tooManyOpenFiles:
            Cure(
                "This machine has no file descriptor left for it.",
                "raise the limit (ulimit -n, or LimitNOFILE of the service) or lower --transfers")
        case .internal: Cure("This is a fault of Martlet itself.", "report it with the lines of martlet log")
        }
    }
}

extension TransferError {
    /// The advice to replace an existing file, in whatever says so: `remedy` names the batch in its place.
    package static let replaceAdvice = "set --if-exists replace for its batch"

    /// The advice to trust a server whose certificate nobody here knows; `remedy` names the command in its place.
    package static let authorityAdvice = ", or name its authority with --ca"

    /// The advice to accept another key of a server for good; `remedy` names the command in its place.
    package static let pinAdvice = ", and name the new key with --pin"

    /// The remedy for the error, then the command that retries it.
    package func remedy(for subject: CureSubject) -> String {
        let retry = "martlet retry \(subject.node)"
        let set = "martlet set \(subject.knownBatch?.description ?? "BATCH")"
        if advice.hasSuffix(Self.authorityAdvice) {
            let check = advice.dropLast(Self.authorityAdvice.count)
            return "\(check), or name its authority: \(set) --ca FILE; then \(retry)"
        }
        if advice.hasSuffix(Self.pinAdvice) {
            return "\(advice.dropLast(Self.pinAdvice.count)); if the new key is right: \(set) --pin PIN; then \(retry)"
        }
        var said = advice.isEmpty ? code.cure(of: subject.scheme).remedy : advice
        if let batch = subject.knownBatch, let place = said?.firstRange(of: Self.replaceAdvice) {
            said?.replaceSubrange(place, with: "martlet set \(batch) --if-exists replace")
        }
        guard let said else { return retry }
        for ending in [", then retry", "; then retry", " and retry", ", and retry"] where said.hasSuffix(ending) {
            return String(said.dropLast(ending.count)) + ", then \(retry)"
        }
        // Trying the same again mends nothing.
        if said.contains("queue it again") { return said }
        // It names the moment of the next try itself.
        return said.contains("retry") ? "\(said): \(retry)" : "\(said), then \(retry)"
    }
}

extension TransferError {
    /// The remedy for a server that has served nothing for a while. It is tried again by itself, whatever is done.
    package func remedyOfServer(for subject: CureSubject) -> String {
        let own: String =
            switch code {
            case .cannotConnectToHost: "see whether the server is running, and check its host and port"
            case .timedOut, .networkConnectionLost: "see whether the server is well, and the network in between"
            case .http, .badServerResponse: "see whether the server is well, or ask who runs it"
            default: code.cure(of: subject.scheme).remedy ?? "see whether the server is well"
            }
        // What was said of this very attempt knows more; not where it only promises.
        let said = advice.isEmpty || advice.contains("Martlet") ? own : advice
        // With these a server may say when it wants to be asked again; nobody asks it sooner.
        let unless = code == .http ? " unless it asked for a pause" : ""
        return "\(said); it is tried again by itself, martlet retry \(subject.node) tries at once\(unless)"
    }
}

extension WaitCount {
    /// The remedy for a server that answers, and asked for a pause.
    package static let remedyOfPause = "nothing to do; it goes on by itself then, and nobody asks the server sooner"
    /// The meaning of such a pause.
    package static let meaningOfPause =
        "The server is well, and has too much to do, or had as much from you as it takes."
}

extension WaitReason {
    /// After "it waits": `because host has no space left`.
    package func clause(server: String) -> String {
        switch self {
        case .auth: "because \(server) does not let it in"
        case .hostKey: "because the key of \(server) is unknown or has changed"
        case .remoteDiskSpace: "because \(server) has no space left"
        case .diskSpace: "because the disk here is full"
        case .connectivity: "for a network connection"
        case .metered: "for a connection that is not metered"
        case .constrained: "for a connection without a data limit"
        case .battery: "for mains power"
        case .powerSaver: "for the end of power saving"
        case .pressure: "for the machine to be less busy"
        case .notBefore: "for its time to come"
        case .dependency: "for another batch to be over"
        case .hostBackoff: "because \(server) asked for a pause"
        case .backoff: "because the last attempt failed"
        case .draining: "because the engine is about to stop"
        }
    }

    /// The action that ends the wait.
    package func remedy(for subject: CureSubject) -> String {
        let retry = "martlet retry \(subject.node)"
        let runNow = "martlet run-now \(subject.node)"
        return switch self {
        case .auth: "\(subject.letIn), then \(retry)"
        case .hostKey: "check the key, then \(retry)"
        case .remoteDiskSpace: "make room there; \(retry) tries at once"
        case .diskSpace: "make room; it goes on by itself, \(retry) tries at once"
        case .connectivity: "connect this machine to the network"
        case .metered, .constrained: runNow
        case .battery: "plug the machine in"
        case .powerSaver: "switch power saving off"
        case .pressure: "nothing to do; it goes on by itself"
        case .notBefore: "nothing to do; \(runNow) starts it at once"
        case .dependency: "nothing to do; it starts by itself"
        case .hostBackoff, .backoff: "nothing to do; \(retry) tries at once"
        case .draining: "martlet engine start"
        }
    }
}
