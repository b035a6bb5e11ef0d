import TransferModel
package import WireOperations

/// The version of a file that a server showed us: stored from the first answer, and compared with every later one.
package struct RemoteVersion: Codable, Hashable, Sendable {
    /// As the server wrote it, quotes and `W/` included.
    package var etag: String?
    /// As the server wrote it.
    package var lastModified: String?
    /// `Last-Modified` was at least a second older than `Date`: only then does the date name one version.
    package var isDateStrong: Bool
    /// The file's whole length.
    package var total: Int64?
    /// `Content-Encoding`: ranges count coded bytes, so the same coding must come back.
    package var coding: String?
    /// `Content-Type` without parameters. Says nothing of the version, but a page is no beginning of an archive.
    package var type: String?

    package init(
        etag: String? = nil, lastModified: String? = nil, isDateStrong: Bool = false, total: Int64? = nil,
        coding: String? = nil
    ) {
        self.etag = etag.flatMap(Validator.tag)
        self.lastModified = lastModified.flatMap(Validator.date)
        self.isDateStrong = isDateStrong
        self.total = total
        self.coding = coding
    }

    /// Reads the file's version from a 200 or 206.
    package init(_ answer: HTTPAnswer) {
        etag = answer.etag
        type = answer.mediaType.flatMap(Validator.word)
        lastModified = answer.lastModifiedText
        if let modified = answer.lastModified, let date = answer.date {
            isDateStrong = modified.milliseconds + 1000 <= date.milliseconds
        } else {
            isDateStrong = false
        }
        let range = answer.status == 206 ? answer.field("content-range").flatMap(ContentRange.init) : nil
        total = answer.status == 206 ? range?.total : answer.contentLength
        let coding = answer.field("content-encoding")?.lowercased()
        self.coding = coding == "identity" ? nil : coding.map { Validator.word($0) ?? Self.unreadable }
    }

    /// Stands for a coding whose name is none: it is coded.
    private static let unreadable = "?"

    /// False for what was never read from an answer.
    var isPlausible: Bool {
        total.map { FileSize.told($0) == $0 } ?? true && etag == etag.flatMap(Validator.tag)
            && lastModified == lastModified.flatMap(Validator.date) && type == type.flatMap(Validator.word)
            && coding == coding.flatMap(Validator.word)
    }

    /// A tag that stands for exactly these bytes.
    package var strongTag: String? {
        guard let etag, !etag.hasPrefix("W/"), !etag.hasPrefix("w/") else { return nil }
        return etag
    }

    /// Time until a modification time in whole seconds tells a later change: a file written within the last two may still be written to.
    /// `nil`: it does already, or a clock is far off and says nothing.
    static func unsettled(_ modified: Timestamp, at now: Timestamp) -> Duration? {
        let age = now.since(modified)
        return age > .seconds(-2) && age < .seconds(2) ? .seconds(2) - age : nil
    }

    /// A file of so many bytes comes in one go, and is hardly changed meanwhile.
    static let quicklyRead: Int64 = 1 << 20

    /// Times that an attempt waits so: a file that is written to all the time is read all the same.
    static let mostPauses = 3

    /// Time to wait before a file is read of which nothing but its length and its time would tell that it was written to meanwhile; `nil`: none.
    static func pause(of size: Int64?, _ modified: Timestamp?, at now: Timestamp) -> Duration? {
        guard let size, size > quicklyRead, let modified else { return nil }
        return unsettled(modified, at: now)
    }

    /// Returns true for a file of so many bytes whose answer took so long: it came in one go, and holds one version. What goes on from an
    /// offset was read at two times, however short it is. A clock that was set back meanwhile says nothing of how long it took.
    static func isOneReading(from offset: Int64, through end: Int64, _ time: Duration) -> Bool {
        offset == 0 && end <= quicklyRead && time >= .zero && time <= .seconds(1)
    }

    /// There is something by which another version could be told.
    var isRecognisable: Bool { etag != nil || lastModified != nil }

    /// True when the server shows another version now, as far as both answers tell. An equal strong tag decides, then a date that names one
    /// version: tags, and dates, differ from one server of a group to the other.
    func showsChange(to now: RemoteVersion) -> Bool {
        if let total, let theirs = now.total, total != theirs { return true }
        if let strongTag, strongTag == now.strongTag { return false }
        if isDateStrong, let lastModified, let theirs = now.lastModified { return lastModified != theirs }
        if let etag, let theirs = now.etag { return etag != theirs }
        if let lastModified, let theirs = now.lastModified { return lastModified != theirs }
        return false
    }

    /// True when a later attempt may go on in the middle (RFC 9110 sections 8.8 and 13.1.5): with a strong tag, or, where there is
    /// no tag at all, with a strong date and uncoded bytes.
    package var isResumable: Bool {
        strongTag != nil || (etag == nil && lastModified != nil && isDateStrong && coding == nil)
    }

    /// Value for `If-Range`; `nil`: none. A tag without quotes, which some servers send, is compared but not sent back.
    package var ifRange: String? {
        guard isResumable else { return nil }
        if let strongTag { return strongTag.hasPrefix("\"") && strongTag.hasSuffix("\"") ? strongTag : nil }
        return lastModified
    }

    /// True when a later answer shows the same bytes. A total that one of them does not know decides nothing.
    package func isSame(as other: RemoteVersion) -> Bool {
        if let total, let theirs = other.total, total != theirs { return false }
        guard coding == other.coding else { return false }
        if let mine = strongTag, other.etag != nil { return mine == other.strongTag }
        if etag != nil, other.etag != nil { return false }
        // One of the answers has no tag (a cache left it out): only an equal date still proves it.
        return lastModified != nil && lastModified == other.lastModified && (isDateStrong || other.isDateStrong)
    }
}
