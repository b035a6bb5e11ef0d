package import TransferModel

extension TransferError {
    /// The remedy for the error, then the command that retries it.
    package func remedy(for subject: CureSubject) -> Advice {
        let told = finding.advice.isEmpty ? code.cure(of: subject.scheme).remedy : finding.remedy
        guard let told else { return "\(subject.retry)" }
        let words: Advice
        switch told.command {
        case .authority:
            return "\(told.words), or name its authority: \(subject.set("--ca", "FILE")); then \(subject.retry)"
        case .pin:
            return "\(told.words); if the new key is right: \(subject.set("--pin", "PIN")); then \(subject.retry)"
        case .replace where subject.knownBatch != nil:
            words = "\(told.words)\(subject.set("--if-exists", "replace"))\(told.rest)"
        case .login: words = "\(told.words)\(subject.letIn)"
        case .log: words = "\(told.words)\(.log)\(told.rest)"
        case .replace, nil: words = "\(told.words)\(told.command?.text ?? "")\(told.rest)"
        }
        return switch told.next {
        // Trying the same again mends nothing.
        case .queued: words
        // It names the moment of the next try itself.
        case .retrySaid: "\(words): \(subject.retry)"
        case .retry, .thenRetry, .andRetry, .again, .automatic: "\(words), then \(subject.retry)"
        }
    }

    /// The remedy for a server that has served nothing for a while. It is tried again by itself, whatever is done.
    package func remedyOfServer(for subject: CureSubject) -> Advice {
        let own: String =
            switch code {
            case .cannotConnectToHost: "see whether the server is running, and check its host and port"
            case .timedOut, .networkConnectionLost: "see whether the server is well, and the network in between"
            case .http, .badServerResponse: "see whether the server is well, or ask who runs it"
            default: code.cure(of: subject.scheme).remedy?.advice ?? "see whether the server is well"
            }
        // What was said of this very attempt knows more; not where it only promises.
        let said = finding.advice.isEmpty || finding.remedy?.next == .automatic ? own : finding.advice
        // With these a server may say when it wants to be asked again; nobody asks it sooner.
        let unless = code == .http ? " unless it asked for a pause" : ""
        return "\(said); it is tried again by itself, \(subject.retry) tries at once\(unless)"
    }

    package var quoted: String { Self.quoted(said) }

    /// The server's words behind a sentence of ours: `; the server said "quota exceeded"`.
    static func quoted(_ said: String?) -> String { said.map { "; the server said \"\($0)\"" } ?? "" }

    /// The event, for so many files: where it names a file it is about that one.
    package func happening(of files: Int64) -> String {
        files > 1 && finding.isOfFile ? "one of them: \(happening)" : happening
    }
}

extension CauseCount {
    /// `3 files: host answered 404`, and what to do.
    package var sentence: String { "\(count) \(count == 1 ? "file" : "files")\(told)" }

    /// The message behind how many there are; of one that names a file is said that it is one of them.
    package var told: String {
        (isOfOne ? ", one of them: \(message)" : ": \(message)") + TransferError.quoted(said)
    }

    /// The message names one file of several.
    package var isOfOne: Bool { count > 1 && finding?.isOfFile == true }
}

extension WaitCount {
    /// The remedy for a server that answers, and asked for a pause.
    package static let remedyOfPause = Advice.idle("it goes on by itself then, and nobody asks the server sooner")
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
    /// - Parameter error: that brought it about, where one is known.
    package func remedy(for subject: CureSubject, after error: TransferError? = nil) -> Advice {
        // It knows more: another login mends no proxy's refusal and no file that cannot be read.
        if self == .auth, let error, error.finding.remedy != nil { return error.remedy(for: subject) }
        let (retry, runNow) = (subject.retry, subject.runNow)
        return switch self {
        case .auth: "\(subject.letIn), then \(retry)"
        case .hostKey: "check the key, then \(retry)"
        case .remoteDiskSpace: "make room there; \(retry) tries at once"
        case .diskSpace: "make room; it goes on by itself, \(retry) tries at once"
        case .connectivity: "connect this machine to the network"
        case .metered, .constrained: "\(runNow)"
        case .battery: "plug the machine in"
        case .powerSaver: "switch power saving off"
        case .pressure: .idle("it goes on by itself")
        case .notBefore: .idle("\(runNow) starts it at once")
        case .dependency: .idle("it starts by itself")
        case .hostBackoff: .idle("\(retry) tries at once, unless the server asked for a pause")
        case .backoff: .idle("\(retry) tries at once")
        case .draining: "\(AdvisedCommand("engine start"))"
        }
    }
}
