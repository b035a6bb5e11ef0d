import FoundationEssentials
package import TransferModel
package import WireOperations

/// Facts about a server that hold for the next file, too. Remembered by origin, over restarts of the engine; a fact that turns out
/// wrong is learnt anew.
package struct HostFacts: Codable, Hashable, Sendable {
    /// The protocol that `https://` without one means there: `put`, `tus`, `ietf`.
    /// The queue's views read this property with SQL, by its name.
    package private(set) var uploadBy: String?
    /// When it said so. A server may learn another protocol, or another server stand there one day.
    package private(set) var uploadByAt: Timestamp?
    /// The interop version of the resumable-upload draft that it speaks.
    package var interopVersion: Int?
    /// It announced that in its answer to OPTIONS, so an upload may begin with an empty request: a server that does not know the draft
    /// would take that for an empty file.
    package var announcesResume: Bool?
    /// The version of the draft that was offered last to a server that announces none; 0: all were, and none of them was taken up.
    package var offeredVersion: Int?
    /// tus extensions and digest algorithms that it announced.
    package var tusExtensions: [String]?
    package var tusChecksums: [String]?
    /// Milliseconds until it answered the first question, its connection included: tells a server next door from one far away.
    package var answerMilliseconds: Int64?
    /// The largest body that it takes in one request; a proxy's limit, or its own.
    package var largestBody: Int64?
    /// Asked for it (`Want-Repr-Digest`), it tells the digest of what it has stored.
    package var tellsDigests: Bool?
    /// It is of those that are known to heed `If-None-Match: *`; of any other server, nginx among them, what has a file's name is asked for
    /// before the file is sent.
    package var heedsConditions: Bool?
    /// The folder at the top below which it has said last of a name that nothing has it: some servers find a file, or a page for all, under
    /// every name, or do so in a part of their tree.
    package var absenceBelow: String?
    /// Bodies are held back by something in front of it, so a cut loses what was sent: send at most so many bytes in one request.
    package var chunk: Int64?
    /// SFTP, FTP, WebDAV: no rename, so files are written under their final names.
    package var cannotRename: Bool?
    /// SFTP, FTP: files in a row whose rename was refused time after time, although they were whole and nothing had the name. What one file
    /// teaches (1; 0: its rename worked) is added to what is known.
    package var refusedRenames: Int?
    /// Nextcloud's paths without its folders of chunks: large files go whole.
    package var cannotChunk: Bool?
    /// SFTP, FTP: an upload that goes on does not work there; whole files only.
    package var cannotResume: Bool?
    /// When the first of what it cannot do was learnt: a server may be mended, or have refused for another reason.
    private var cannotSince: Timestamp?
    /// The most private zone that it has answered from: an address that it named in an earlier attempt may lie as far inside.
    package var zone: AddressZone?
    /// S3: seconds that its clock is ahead of ours; the region that it said it is in.
    package var clockSkewSeconds: Int64?
    package var region: S3Region?
    /// S3: bytes a second that the parts of one file went there.
    package var partRate: Int64?

    package init() {}

    /// The facts that one answer teaches.
    package init(_ set: (inout HostFacts) -> Void) { set(&self) }

    /// Takes from an answer to OPTIONS what it shows beside the protocol: a server that wants digests tells them, too.
    init(hintedBy answer: HTTPAnswer) { tellsDigests = answer.wantsDigests ? true : nil }

    /// Time for which a host's answer to which protocol it speaks holds: one question a day costs nothing.
    static let lifeOfUploadBy = Duration.seconds(86_400)
    /// Time for which a host is taken not to be able to do what it could not do then.
    static let lifeOfInability = lifeOfUploadBy
    /// Files in a row whose rename was refused, after which a host counts as one that cannot rename; and refusals in a row, after which
    /// one file goes under its final name.
    static let mostRefusedRenames = 3

    /// The version of the draft to offer in a PUT to a server that announces none: the one that it has taken up, else the next to be tried.
    package var versionToOffer: Int {
        if let interopVersion { return interopVersion }
        guard let offeredVersion, offeredVersion != 0 else { return ResumableDraft.latest }
        return ResumableDraft.versions.first { $0 < offeredVersion } ?? ResumableDraft.latest
    }

    /// True when nobody knows yet whether the server takes up that version, so that the offer tells it.
    package var isOfferATrial: Bool { interopVersion == nil && offeredVersion != 0 }

    /// It speaks this protocol for uploads.
    package mutating func learn(uploadBy name: String, at now: Timestamp) {
        uploadBy = name
        uploadByAt = now
    }

    /// The fact that has the host asked anew what it speaks, a minute after that was learnt at the earliest. `nil`: it will be in any case.
    package static func doubting(uploadBy name: String, learntAt learnt: Timestamp, at now: Timestamp) -> HostFacts? {
        let least = Duration.seconds(60)
        guard now.since(learnt) < lifeOfUploadBy - least else { return nil }
        let end = max(now, learnt.advanced(by: least))
        return HostFacts { $0.learn(uploadBy: name, at: end.advanced(by: .zero - lifeOfUploadBy)) }
    }

    /// The facts that hold now; those that do not any more are left out and asked anew.
    package func current(at now: Timestamp) -> HostFacts {
        var current = self
        let since = cannotSince.map { now.since($0) }
        if since.map({ $0 < .zero || $0 >= Self.lifeOfInability }) ?? true {
            (current.cannotRename, current.cannotChunk, current.cannotResume) = (nil, nil, nil)
            (current.refusedRenames, current.cannotSince) = (nil, nil)
        }
        let age = uploadByAt.map { now.since($0) }
        if age.map({ $0 < .zero || $0 >= Self.lifeOfUploadBy }) ?? true {
            (current.uploadBy, current.uploadByAt) = (nil, nil)
            // It was told with the protocol, and is told again with it.
            if age != nil { current.largestBody = nil }
        }
        return current
    }

    /// One line of JSON.
    package var encoded: [UInt8] { StableJSON.bytes(of: self) }

    /// `nil` for what is no such line: then everything is learnt anew.
    package init?(encoded: [UInt8]) {
        guard let facts = try? JSONDecoder().decode(HostFacts.self, from: Data(encoded)) else { return nil }
        self = facts.possible
    }

    /// These facts without what cannot be: that is learnt anew. All that is stored, and all that is learnt, goes through this.
    private var possible: HostFacts {
        let sizes = UploadPace.smallestBody...FileSize.largest
        var facts = self
        func keep<Value: Comparable>(_ fact: WritableKeyPath<HostFacts, Value?>, in range: ClosedRange<Value>) {
            if let value = facts[keyPath: fact], !range.contains(value) { facts[keyPath: fact] = nil }
        }
        keep(\.largestBody, in: sizes)
        keep(\.chunk, in: sizes)
        keep(\.partRate, in: 1...FileSize.largest)
        keep(\.refusedRenames, in: 0...Self.mostRefusedRenames)
        keep(\.answerMilliseconds, in: 0...86_400_000)
        keep(\.clockSkewSeconds, in: -Self.mostSkew...Self.mostSkew)
        if !ResumableDraft.versions.contains(interopVersion ?? ResumableDraft.latest) { facts.interopVersion = nil }
        if !([0] + ResumableDraft.versions).contains(offeredVersion ?? 0) { facts.offeredVersion = nil }
        if let uploadBy, HTTPUploadProtocol(rawValue: uploadBy) == nil {
            (facts.uploadBy, facts.uploadByAt) = (nil, nil)
        }
        if absenceBelow?.utf8.count ?? 0 > Self.longestFolder { facts.absenceBelow = nil }
        facts.tusExtensions = tusExtensions.map(Self.words)
        facts.tusChecksums = tusChecksums.map(Self.words)
        return facts
    }

    /// Bytes of a folder's name that is kept: three for each byte that a file system takes, and two slashes.
    private static let longestFolder = 3 * 255 + 2

    /// The names among a server's words, and not more of them than a server has use for.
    private static func words(_ list: [String]) -> [String] {
        Array(list.lazy.filter { $0.utf8.count <= 64 && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } }.prefix(64))
    }

    /// Seconds that a server's clock is believed to be off from ours, 25 hours: as far as a wrong time zone goes. A request is signed for the
    /// time that its server has, so a server that may name any time gets signatures that hold at another one.
    private static let mostSkew: Int64 = 90_000

    /// - Parameter seconds: how far a server's clock is ahead of ours.
    static func believes(skew seconds: Int64) -> Bool { seconds.magnitude <= mostSkew.magnitude }

    /// The facts that hold now with what `newer` knows put over them. What the server cannot do ages from here on.
    package func learning(_ newer: HostFacts, at now: Timestamp) -> HostFacts {
        var learnt = current(at: now).merged(with: newer)
        let isUnable =
            [learnt.cannotRename, learnt.cannotChunk, learnt.cannotResume].contains(true)
            || learnt.refusedRenames != nil
        learnt.cannotSince = isUnable ? learnt.cannotSince ?? now : nil
        return learnt
    }

    /// These facts with what `newer` knows put over them.
    package func merged(with newer: HostFacts) -> HostFacts {
        let newer = newer.possible
        var merged = self
        if newer.uploadBy != nil { (merged.uploadBy, merged.uploadByAt) = (newer.uploadBy, newer.uploadByAt) }
        // Trials run side by side: of those that were taken up the newest version holds.
        let isTrial = newer.interopVersion != nil && newer.interopVersion == newer.offeredVersion
        merged.interopVersion =
            isTrial ? max(newer.interopVersion ?? 0, interopVersion ?? 0) : newer.interopVersion ?? interopVersion
        merged.announcesResume = newer.announcesResume ?? announcesResume
        merged.offeredVersion = newer.offeredVersion ?? offeredVersion
        merged.tusExtensions = newer.tusExtensions ?? tusExtensions
        merged.tusChecksums = newer.tusChecksums ?? tusChecksums
        merged.answerMilliseconds = newer.answerMilliseconds ?? answerMilliseconds
        merged.largestBody = newer.largestBody ?? largestBody
        merged.tellsDigests = newer.tellsDigests ?? tellsDigests
        merged.heedsConditions = newer.heedsConditions ?? heedsConditions
        merged.absenceBelow = newer.absenceBelow ?? absenceBelow
        merged.chunk = newer.chunk ?? chunk
        merged.cannotRename = newer.cannotRename ?? cannotRename
        if let refused = newer.refusedRenames {
            let inARow = refused == 0 ? 0 : min(Self.mostRefusedRenames, refused + (refusedRenames ?? 0))
            merged.refusedRenames = inARow == 0 ? nil : inARow
            if inARow == Self.mostRefusedRenames { merged.cannotRename = true }
        }
        merged.cannotChunk = newer.cannotChunk ?? cannotChunk
        merged.cannotResume = newer.cannotResume ?? cannotResume
        merged.clockSkewSeconds = newer.clockSkewSeconds ?? clockSkewSeconds
        merged.region = newer.region ?? region
        merged.partRate = newer.partRate ?? partRate
        merged.zone = newer.zone ?? zone
        return merged
    }
}
