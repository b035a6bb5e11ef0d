import Digests
import LinuxSystem

/// Bytes that count only when their digest is right. One thread at a time.
final class UploadPiece {
    let file: OwnedDescriptor
    private let running: RunningDigest
    private let room: DiskRoom

    init(_ claim: PieceClaim, in folder: UploadFolder) throws(Errno) {
        room = folder.room
        file = try folder.makeNameless()
        running = RunningDigest(claim.algorithm)
    }

    var digest: DigestValue { running.value() }

    func append(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
        try room.take(bytes.count)
        try System.writeAll(file.rawValue, bytes)
        running.update(bytes)
    }
}
