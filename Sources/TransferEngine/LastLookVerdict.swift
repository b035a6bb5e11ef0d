import TransferModel
import TransferProtocols
import TransferQueue

/// What a server's list says of one completed file. Pure.
enum LastLookVerdict {
    /// Why the file is not there as it was sent; `nil`: it is.
    /// - Parameter tagsProve: the server's tag of a version is another for other bytes, and never for the same version (S3).
    static func absence(of file: ComparedFile, at host: String, tagsProve: Bool) -> AbsentFile? {
        func absent(_ message: String, ours: RemoteEntry? = nil) -> AbsentFile {
            AbsentFile(
                task: file.task, finishedAt: file.finishedAt, error: TransferError(.notThere, message),
                resumePoint: ours.map { replacing($0).encoded })
        }
        guard let entry = file.entry else {
            return absent("\(host) does not list it, though all of it was sent: retry sends it again")
        }
        if entry.isFolder { return absent("at \(host) lies a folder of its name: \(otherAdvice)") }
        // Another one's file is there, and was to stay.
        if file.isSkipped { return nil }
        let isOurs = bearsOurTime(entry, file)
        let found: String
        switch entry.size {
        case .bytes(let bytes) where bytes != file.size: found = "\(bytes) bytes instead of \(file.size)"
        case .impossible: found = "a size that no file has"
        case .bytes, .unknown:
            let other = entry.digests.first { digest in
                digest.algorithm == file.digest?.algorithm && digest.value != file.digest?.value
            }
            if let other {
                found = "as many bytes with another digest (\(other.algorithm))"
            } else if tagsProve, let was = file.etag.map(plain), let now = entry.etag.map(plain), isDigest(was),
                isDigest(now), was != now
            {
                found = "another version (its ETag is \(now))"
            } else {
                return nil
            }
        }
        return isOurs
            ? absent("\(host) has of it \(found): retry sends it again and replaces that", ours: entry)
            : absent("at \(host) lies another file of its name, with \(found)\(since(entry)): \(otherAdvice)")
    }

    private static let otherAdvice = "look at it, and \(TransferError.replaceAdvice) to put yours in its place"

    /// What lies there has the time that we gave it: it is ours, damaged, and nobody else's to lose.
    private static func replacing(_ entry: RemoteEntry) -> ResumePoint {
        var point = ResumePoint(PutResumePoint(stored: true, etag: entry.etag.map { "\"\($0)\"" }))
        point.isOutdated = true
        return point
    }

    /// It has the time that we gave it, and nobody else would have written it just then: that of a source that was long old when it was sent.
    /// The second alone says nothing of a file that was written the moment before.
    private static func bearsOurTime(_ entry: RemoteEntry, _ file: ComparedFile) -> Bool {
        let source = seconds(file.modifiedNanoseconds, 1_000_000_000)
        guard let modified = entry.modified, seconds(modified.milliseconds, 1000) == source else { return false }
        return seconds(file.finishedAt.milliseconds, 1000) - source > 3600
    }

    private static func since(_ entry: RemoteEntry) -> String { entry.modified.map { ", changed \($0)" } ?? "" }

    /// A tag of an object that was stored in one piece. Of others servers do not say the same everywhere.
    private static func isDigest(_ tag: String) -> Bool { tag.utf8.count == 32 && tag.allSatisfy(\.isHexDigit) }

    private static func plain(_ tag: String) -> String { tag.filter { $0 != "\"" } }

    private static func seconds(_ count: Int64, _ unit: Int64) -> Int64 {
        count >= 0 ? count / unit : (count - unit + 1) / unit
    }
}
