import Digests
import LinuxSystem

/// The SHA-256 of an upload, computed while its bytes arrive, so that the whole file need not be read again at its end.
///
/// It takes only bytes that follow the ones it has, from the first on. Any others end it for good, and the file is read: a
/// digest that is missing costs time, a wrong one would call a good file damaged. An upload's bytes are never changed once
/// they are written and its end never moves back, so it may be told of them after others were let in to write: what is told
/// out of order is found out by its offset.
final class ArrivalDigest: Sendable {
    /// Unchecked: the growing digest is reached only under the lock of `state`, which nothing leaves but finished values.
    private struct State: @unchecked Sendable {
        let running = RunningDigest(.sha256)
        /// Bytes that are in it.
        var count: UInt64 = 0
    }

    /// `nil`: something did not follow. Held while bytes are hashed, so not the upload's own lock.
    private let state = Mutex<State?>(State())

    /// One for an upload without bytes; `nil` when nobody will want it.
    init?(for record: UploadRecord) {
        // Parts are joined, never finished.
        guard record.needsDigest, record.role != .partial else { return nil }
    }

    /// The one for an upload that was on the disk: its own from before, or a new one when nothing came yet.
    static func of(_ loaded: UploadFolder.Loaded, _ parked: Parked?) -> ArrivalDigest? {
        if loaded.size == 0 { return ArrivalDigest(for: loaded.record) }
        return loaded.facts.flatMap { parked?.digest(of: $0) }
    }

    /// Takes bytes that were written at `offset`.
    func update(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) {
        state.withLock { state in
            guard let known = state, known.count == offset else {
                state = nil
                return
            }
            known.running.update(bytes)
            state?.count += UInt64(bytes.count)
        }
    }

    /// The digest of a file of this size; `nil` when these are not the bytes that it has.
    func value(ofSize size: UInt64) -> DigestValue? {
        state.withLock { state in state.flatMap { $0.count == size ? $0.running.value() : nil } }
    }

    /// Between two requests: the digest of an upload that nobody uses, and the file as it was left.
    struct Parked {
        private let digest: ArrivalDigest
        private let facts: FileFacts

        /// `nil` when it is of no use.
        init?(_ digest: ArrivalDigest?, of data: OwnedDescriptor) {
            guard let digest, let facts = try? FileFacts(System.fstat(data.rawValue)),
                digest.state.withLock({ $0?.count == facts.size })
            else { return nil }
            self.digest = digest
            self.facts = facts
        }

        /// The digest, unless somebody else has written to the file meanwhile.
        func digest(of file: FileFacts) -> ArrivalDigest? { file == facts ? digest : nil }
    }
}

extension UploadRecord {
    /// True when the SHA-256 of the whole file is to be checked or told.
    var needsDigest: Bool { claim != nil || wantsDigest }
}
