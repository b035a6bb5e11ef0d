/// The progress of a transfer in words: what has crossed the wire, and what of it is known to have arrived.
///
/// Many servers say only at the end that they have a file; until then what was sent is no less sent, and "0 accepted" would read as
/// lost work.
package struct Arrival: Sendable {
    private let bytes: ByteCounts
    private let isDownload: Bool
    private let isMoving: Bool

    /// - Parameter state: a server that does not speak while bytes move may be asked when they do not.
    package init(_ bytes: ByteCounts, isDownload: Bool, state: TransferState) {
        (self.bytes, self.isDownload, isMoving) = (bytes, isDownload, state.isActive)
    }

    /// `312M sent, the server confirms at the end`.
    /// - Parameter size: how a number of bytes is written.
    package func sentence(_ size: (Int64) -> String) -> String {
        let done = "\(size(bytes.sent)) \(isDownload ? "received" : "sent")"
        let found = bytes.found.map { ["\(size($0)) was there already"] } ?? []
        return ([done] + (confirmation(size).map { [$0] } ?? []) + found).joined(separator: ", ")
    }

    /// The words to add to the number of sent bytes; `nil`: none are needed, all of them have arrived.
    package func confirmation(_ size: (Int64) -> String) -> String? {
        let known = size(bytes.accepted)
        guard bytes.accepted < bytes.sent, known != size(bytes.sent) else { return nil }
        if isDownload { return bytes.accepted > 0 ? "\(known) of it safe on the disk" : nil }
        if bytes.accepted > 0 { return "\(known) of it confirmed by the server\(isMoving ? " so far" : "")" }
        return isMoving ? "the server confirms at the end" : "not confirmed by the server yet"
    }
}

extension TaskSnapshot {
    package var arrival: Arrival {
        var bytes = ByteCounts(total: bytesTotal ?? 0, sent: bytesSent, accepted: bytesAccepted)
        if skipped, let bytesTotal, bytesTotal > 0 { bytes.found = bytesTotal }
        return Arrival(bytes, isDownload: direction == .download, state: state)
    }

    /// The label of bytes that had to cross the wire again.
    package var repeatedTitle: String { Self.repeatedTitle(isDownload: direction == .download) }

    /// The same of many tasks.
    package static func repeatedTitle(isDownload: Bool) -> String { isDownload ? "Received twice" : "Sent twice" }
}

extension TaskSnapshot {
    /// After "checked": by what both ends were compared, or that nothing was; `nil`: there is nothing to say yet, or nobody sent it.
    package var checked: String? {
        if verified == .none, isTakenOnTrust {
            return "not compared; the server " + (answered.map { "answered \($0)" } ?? "took it")
        }
        guard verified == .digest else { return verified.words }
        if let digest { return "by its digest (\(digest.algorithm))" }
        // Some have no digest of the whole file: the server compared as it came.
        return ProtocolFacts.named(`protocol`)?.comparedInParts ?? verified.words
    }

    /// The server's word is all there is: it said that it has the file, and nothing of it was compared.
    package var isTakenOnTrust: Bool {
        state == .completed && direction == .upload && verified == .none && !skipped
    }

    /// Words for who may read the file's name while it is sent; `nil`: they see all of it, or nothing.
    package var visibility: String? { direction == .upload ? ProtocolFacts.named(`protocol`)?.unfinished : nil }
}

extension NodeRow {
    /// As of a task: by what both ends were compared; `nil`: by nothing.
    package var checked: String? {
        switch comparedBy {
        case nil: nil
        case Verification.size.rawValue?: Verification.size.words
        case Verification.digest.rawValue?: Verification.digest.words
        case let algorithm?: "by its digest (\(algorithm))"
        }
    }

    package var arrival: Arrival { Arrival(bytes, isDownload: isDownload, state: state) }

    /// By where it goes: a row does not say it.
    package var isDownload: Bool { ends.map { !$0.to.contains("://") } ?? false }

    /// From where, where the row knows it, and to where; `nil`: nobody can tell.
    package var ends: (from: String?, to: String)? {
        if path.isEmpty { return nil }
        if case .batch = id { return (nil, path) }
        if let beginning = source?.displayed {
            // A folder without a source on this machine.
            if path == beginning { return (nil, path) }
            let head = beginning + " -> "
            if path.utf8.starts(with: head.utf8) {
                return (beginning, String(decoding: path.utf8.dropFirst(head.utf8.count), as: UTF8.self))
            }
        }
        // An engine that does not tell the source, and a name may have an arrow in it: then nobody can tell which one is ours.
        let halves = path.split(separator: " -> ", maxSplits: 2)
        return halves.count == 2 ? (String(halves[0]), String(halves[1])) : nil
    }
}

extension Verification {
    /// After "checked": by what both ends were compared; `nil`: by nothing.
    package var words: String? {
        switch self {
        case .none: nil
        case .size: "by its size only"
        case .digest: "by its digest"
        }
    }
}
