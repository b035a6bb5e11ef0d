package import TransferModel

// What states, reasons and codes are called where a person reads them. The names themselves are for JSON and for the wire.

extension WaitReason {
    /// For a person, after "waits for".
    package var words: String {
        switch self {
        case .auth: "a valid sign-in"
        case .hostKey: "a known host key"
        case .remoteDiskSpace: "space on the server"
        case .diskSpace: "space on this disk"
        case .connectivity: "a network"
        case .metered: "a line that is not metered"
        case .constrained: "a line without a data limit"
        case .battery: "mains power"
        case .powerSaver: "the end of power saving"
        case .pressure: "a less busy machine"
        case .notBefore: "its time"
        case .dependency: "another batch"
        case .hostBackoff: "the server to answer again"
        case .backoff: "the next try"
        case .draining: "the engine's next start"
        }
    }
}

extension Collection<WaitReason> {
    /// All of them, after "waits for".
    package var words: String { map(\.words).joined(separator: ", ") }

    /// All of them, after "waits for", where it is known what the last try ended with: a server whose name nobody knows does not
    /// answer again, however long one waits.
    package func words(after error: TransferError?) -> String {
        guard let error, error.code == .cannotFindHost else { return words }
        let network: Set<WaitReason> = [.hostBackoff, .connectivity, .backoff]
        let others = filter { !network.contains($0) }.map(\.words)
        guard others.count < count else { return words }
        return (["a server of that name (\(error.happening))"] + others).joined(separator: ", ")
    }
}

extension TransferState {
    /// The state as a person reads it: as on the screen, what was queued with `--hold` is held.
    package var word: String { self == .created ? "held" : rawValue }
}

extension TransferErrorCode {
    /// For a person, where there is no message: `cannotFindHost` is "cannot find host".
    package var words: String { self == .http ? "refused by the server" : spelledOut(rawValue) }
}

extension TransferEventType {
    /// For a person: `taskFailed` is "task failed".
    package var words: String { spelledOut(rawValue) }
}

private func spelledOut(_ name: String) -> String {
    name.reduce(into: "") { $0 += $1.isUppercase ? " " + $1.lowercased() : String($1) }
}
