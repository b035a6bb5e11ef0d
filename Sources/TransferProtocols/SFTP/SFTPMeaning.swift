import TransferModel
import WireOperations

/// The meaning of a server's refusal for a task where the protocol gives it no other: SFTP's rows of the command contract.
enum SFTPMeaning {
    /// The operation that was refused, for the message.
    enum Deed: String {
        case open = "to open it"
        case store = "to store it"
        case rename = "to rename it"
        case makeFolder = "to make the folder"
        case read = "to read it"
        case list = "to list its folder"
    }

    /// - Parameter hasAccepted: Earlier bytes of this task were accepted, so a missing permission means that it was taken away.
    static func action(
        _ status: SFTPStatus, _ text: String, _ deed: Deed, host: String, hasAccepted: Bool
    ) -> ProtocolAction {
        func error(_ code: TransferErrorCode, _ what: String, _ remedy: Remedy) -> TransferError {
            TransferError(code, "\(host) \(what)", aside: text.isEmpty ? nil : text, remedy)
        }
        if saysFull(text) { return full(host: host, text) }
        switch status {
        case .permissionDenied:
            let refusal = error(
                .permissionDenied, "does not allow us \(deed.rawValue)", .thenRetry("ask for access there"))
            return hasAccepted ? .wait(WaitDemand(.auth, refusal)) : .fail(refusal)
        case .noSuchFile where deed == .read:
            return .fail(error(.sourceMissing, "has no such file", .step("check the address")))
        case .noSuchFile, .badMessage:
            return .fail(
                error(
                    .destinationUnwritable, "does not take this name",
                    .queued("check the address, or queue it again under another name")))
        case .unsupported:
            return .fail(
                error(
                    .unsupported, "is not able \(deed.rawValue)", .queued("send it elsewhere, or by another protocol")))
        case .noConnection, .connectionLost:
            return .wait(
                WaitDemand(
                    .backoff,
                    error(.networkConnectionLost, "lost its connection to the files", .again)))
        case .endOfFile, .failure:
            return .wait(
                WaitDemand(
                    .backoff,
                    error(.badServerResponse, "failed \(deed.rawValue)", .again("look there"))))
        }
    }

    /// The action after an operation that no server answered.
    static func action(_ failure: ExchangeFailure) -> ProtocolAction {
        switch failure {
        case .network(let error) where error.isRetryable: .wait(WaitDemand(.backoff, error))
        case .network(let error): .fail(error)
        case .sink(let error, let waits?): .wait(WaitDemand(waits, error))
        case .sink(let error, nil): .fail(error)
        }
    }

    static func full(host: String, _ text: String = "") -> ProtocolAction {
        .wait(
            WaitDemand(
                .remoteDiskSpace,
                TransferError(
                    .badServerResponse, "the disk or quota at \(host) is full", aside: text.isEmpty ? nil : text,
                    .automatic("make room there, Martlet tries again"))))
    }

    /// Servers with a status of their own for it speak a later version; in version 3 only the text can say it.
    static func saysFull(_ text: String) -> Bool {
        let text = text.lowercased()
        return ["no space", "quota", "disk full", "disk is full", "not enough space", "insufficient"]
            .contains { text.contains($0) }
    }

    /// An answer of another kind than was asked for.
    static func odd(host: String) -> ProtocolAction {
        .wait(
            WaitDemand(
                .backoff,
                TransferError(.badServerResponse, "\(host) gave an answer to another question", .again)))
    }
}
