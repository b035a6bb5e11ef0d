/// The reason why a file under the final name counts as this upload's, where a server cannot rename and the bytes go there straight away.
/// A field of the resume points of FTP and SFTP, durable before the first byte: without it what is there is somebody else's.
package enum OwnedName: Codable, Hashable, Sendable {
    /// A look had found nothing there right before so many bytes were to be sent. No longer file can be ours; a shorter one is, or came
    /// there in that moment.
    case free(upTo: Int64)
    /// Bytes of this upload are known to have come there.
    case written

    var isPlausible: Bool {
        switch self {
        case .free(let most): ResumeBounds.lengths.contains(most)
        case .written: true
        }
    }

    /// Bytes that a file of ours has at most; `nil`: that is not known.
    var most: Int64? { if case .free(let most) = self { most } else { nil } }

    /// Returns true when a file of that length may be ours; there is no proof of it. `free`: it is not shorter than what was confirmed, nor longer
    /// than what was to be sent. `written`: it is not longer than all that was sent.
    /// - Parameters:
    ///   - size: `nil`: the server does not tell it.
    ///   - confirmed: bytes from its start that the server had by its own word.
    ///   - longest: the length of the longest version of the source that was sent there; `nil`: not known.
    func covers(_ size: Int64?, confirmed: Int64, longest: Int64?) -> Bool {
        switch self {
        case .free(let most): size.map { (min(confirmed, most)...most).contains($0) } ?? false
        case .written: size ?? 0 <= longest ?? .max
        }
    }
}
