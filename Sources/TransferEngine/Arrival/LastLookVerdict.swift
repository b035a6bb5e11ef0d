import TransferModel
import TransferProtocols
import TransferQueue

/// Compares one completed file with its entry in the server's list. Pure.
enum LastLookVerdict {
    /// As it was sent, or as a later batch of this queue has sent it.
    case isThere
    case isAbsent(AbsentFile)
    /// It is not as it was sent, and another task may be writing its name: nobody can say whose it is.
    case isOpen

    /// - Parameter tagsProve: the server's tag of a version is another for other bytes, and never for the same version (S3).
    init(_ file: ComparedFile, at host: String, tagsProve: Bool) {
        guard let absent = Self.absence(of: file, at: host, tagsProve: tagsProve) else {
            self = .isThere
            return
        }
        self.init(absent, lies: file.entry, later: file.later)
    }

    /// - Parameters:
    ///   - absent: the finding when nobody else has written the name since.
    ///   - entry: what lies there; `nil`: nothing does.
    init(_ absent: AbsentFile, lies entry: RemoteEntry?, later: LaterFile?) {
        guard let later else {
            self = .isAbsent(absent)
            return
        }
        let isLater = later.completed.map { version in entry.map { Self.may($0, be: version) } ?? false } ?? false
        self = isLater ? .isThere : later.isOpen ? .isOpen : .isAbsent(absent)
    }

    private static func may(_ entry: RemoteEntry, be version: LaterFile.Version) -> Bool {
        switch entry.size {
        case _ where entry.isFolder: false
        case .bytes(version.size), .unknown: otherDigest(entry, than: version.digest) == nil
        case .bytes, .impossible: false
        }
    }

    private static func otherDigest(_ entry: RemoteEntry, than digest: TransferDigest?) -> TransferDigest? {
        entry.digests.first { $0.algorithm == digest?.algorithm && $0.value != digest?.value }
    }

    /// The reason why the file is not there as it was sent; `nil`: it is.
    private static func absence(of file: ComparedFile, at host: String, tagsProve: Bool) -> AbsentFile? {
        func absent(_ what: String, _ remedy: Remedy = otherLies, isOther: Bool = true) -> AbsentFile {
            AbsentFile(
                file.sent, error: TransferError(.notThere, what, remedy), isOther: isOther)
        }
        guard let entry = file.entry else {
            if file.isSkipped {
                return absent(
                    "\(host) does not list it, though a file of its name stood there", .retry("retry sends it"),
                    isOther: false)
            }
            return absent(
                "\(host) does not list it, though all of it was sent", .retry("retry sends it again"), isOther: false)
        }
        if entry.isFolder { return absent("at \(host) lies a folder of its name") }
        // Another one's file is there, and was to stay. One that stood there as the same is to be the same still.
        if file.isSpared { return nil }
        let found: String
        switch entry.size {
        case .bytes(let bytes) where bytes != file.size: found = "\(bytes) bytes instead of \(file.size)"
        case .impossible: found = "a size that no file has"
        case .bytes, .unknown:
            if let other = otherDigest(entry, than: file.digest) {
                found = "as many bytes with another digest (\(other.algorithm))"
            } else if tagsProve, let was = file.etag.map(plain), let now = entry.etag.map(plain), isDigest(was),
                isDigest(now), was != now
            {
                found = "another version (its ETag is \(now))"
            } else {
                return nil
            }
        }
        return absent("at \(host) lies another file of its name, with \(found)\(since(entry))")
    }

    static let otherLies = Remedy.replacing("look at it, and ", " to put yours in its place")

    /// A retry finds a file there that is known not to be the source, whatever its length and time: only the rule for files that are there
    /// already says whether it is replaced. Even a damaged copy of ours may have been mended by then.
    static let otherLiesThere: ResumePoint = {
        var point = ResumePoint(StoredVersion(stored: false, etag: nil))
        (point.isOutdated, point.targetIsOther) = (true, true)
        return point
    }()

    /// The point of a retry that finds another file there, with what the stored one still names at the server.
    @Sendable static func otherLies(_ stored: [UInt8]?) -> [UInt8] {
        var point = otherLiesThere
        if let stored = stored.flatMap({ ResumePoint(encoded: $0) }), stored.leavesParts { point.leave([stored]) }
        return point.encoded
    }

    private static func since(_ entry: RemoteEntry) -> String { entry.modified.map { ", changed \($0)" } ?? "" }

    /// A tag of an object that was stored in one piece. Of others servers do not say the same everywhere.
    private static func isDigest(_ tag: String) -> Bool { tag.utf8.count == 32 && tag.allSatisfy(\.isHexDigit) }

    private static func plain(_ tag: String) -> String { tag.filter { $0 != "\"" } }
}
