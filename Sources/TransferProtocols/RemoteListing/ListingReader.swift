package import TransferModel
import XMLReader

/// The format of a listing's bytes.
package enum ListingFormat: Hashable, Sendable {
    /// `MLSD`'s lines (RFC 3659 section 7).
    case machineLines
    /// A 207 to PROPFIND (RFC 4918 section 13) about the folder of this path, percent-decoded, without a slash at its end.
    case multistatus(folder: [UInt8])
    /// `ListBucketResult` of the keys that begin so.
    case bucket(prefix: RawPath)
}

/// The result of reading a listing's bytes.
package struct ListingEnd: Hashable, Sendable {
    /// It is what was asked for, from its beginning to its end. False: nothing follows from a name that is not in it.
    package var isWhole: Bool
    /// Names the next page; `nil`: there is none.
    package var next: String?
    /// Nothing was in this page.
    package var isEmpty: Bool

    package init(isWhole: Bool, next: String? = nil, isEmpty: Bool = false) {
        self.isWhole = isWhole
        self.next = next
        self.isEmpty = isEmpty
    }
}

/// Turns the bytes of a listing into entries as they come, so that a folder of a million names needs no more memory than one of ten.
/// Used by one at a time.
package final class ListingReader {
    private enum Work {
        case lines(MachineLines)
        case multistatus(XMLFeed, folder: [UInt8], isFirst: Bool)
        case bucket(XMLFeed, BucketPage)
        /// The rest is dropped.
        case broken
    }

    private var work: Work

    package init(_ format: ListingFormat) {
        work =
            switch format {
            case .machineLines: .lines(MachineLines())
            case .multistatus(let folder): .multistatus(XMLFeed(), folder: DavListing.plain(folder), isFirst: true)
            case .bucket(let prefix): .bucket(XMLFeed(), BucketPage(prefix: prefix))
            }
    }

    /// The entries that these bytes complete.
    package func take(_ bytes: [UInt8]) -> [RemoteEntry] {
        switch work {
        case .lines(var lines):
            let entries = lines.take(bytes)
            work = lines.isBroken ? .broken : .lines(lines)
            return entries
        case .multistatus(let feed, let folder, let isFirst):
            guard let children = try? feed.take(bytes) else { return breakOff() }
            return resources(children, feed, folder, isFirst)
        case .bucket(let feed, var page):
            guard let children = try? feed.take(bytes), page.take(children) else { return breakOff() }
            work = .bucket(feed, page)
            return []
        case .broken: return []
        }
    }

    /// The last entries, and how it ended. After this it is of no more use.
    package func finish() -> ([RemoteEntry], ListingEnd) {
        defer { work = .broken }
        switch work {
        case .lines(var lines):
            let entries = lines.finish()
            return (entries, ListingEnd(isWhole: !lines.isBroken))
        case .multistatus(let feed, let folder, let isFirst):
            guard let children = try? feed.finish(), feed.root?.isNamed("multistatus", in: "DAV:") == true else {
                return ([], ListingEnd(isWhole: false))
            }
            return (resources(children, feed, folder, isFirst), ListingEnd(isWhole: true))
        case .bucket(let feed, var page):
            guard let children = try? feed.finish(), page.take(children),
                feed.root?.isNamed("ListBucketResult") == true
            else { return ([], ListingEnd(isWhole: false)) }
            return page.end()
        case .broken: return ([], ListingEnd(isWhole: false))
        }
    }

    private func breakOff() -> [RemoteEntry] {
        work = .broken
        return []
    }

    private func resources(
        _ children: [XMLElement], _ feed: XMLFeed, _ folder: [UInt8], _ isFirst: Bool
    ) -> [RemoteEntry] {
        var (folder, isFirst) = (folder, isFirst)
        var entries: [RemoteEntry] = []
        for child in children where child.isNamed("response", in: "DAV:") {
            guard let resource = DavResource(child) else { continue }
            // Behind a proxy a server may call the folder by its own name for it: that of the first answer, which is about the folder.
            if isFirst, resource.isFolder, resource.path != folder, Self.name(of: resource.path, in: folder) == nil {
                folder = resource.path
            }
            isFirst = false
            guard let name = Self.name(of: resource.path, in: folder) else { continue }
            entries.append(resource.entry(named: RawPath(name)))
        }
        work = .multistatus(feed, folder: folder, isFirst: isFirst)
        return entries
    }

    /// The name of what lies directly in a folder; `nil`: it does not.
    private static func name(of path: [UInt8], in folder: [UInt8]) -> [UInt8]? {
        let slash = UInt8(ascii: "/")
        let start = folder.last == slash ? folder : folder + [slash]
        guard path.starts(with: start) else { return nil }
        let name = Array(path.dropFirst(start.count))
        return RemoteEntry.isName(name) ? name : nil
    }
}

/// Lines of `MLSD`, put together from pieces.
private struct MachineLines {
    /// No name and no list of facts is as long.
    private static let longest = 64 * 1024

    private var rest: [UInt8] = []
    /// Something that is no line of such a list came: what follows may be anything.
    private(set) var isBroken = false

    mutating func take(_ bytes: [UInt8]) -> [RemoteEntry] {
        rest += bytes
        var entries: [RemoteEntry] = []
        var start = rest.startIndex
        while !isBroken, let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
            read(rest[start..<end], &entries)
            start = rest.index(after: end)
        }
        rest = Array(rest[start...])
        if rest.count > Self.longest { isBroken = true }
        return entries
    }

    /// The last line may lack its end.
    mutating func finish() -> [RemoteEntry] {
        var entries: [RemoteEntry] = []
        if !isBroken { read(rest[...], &entries) }
        rest = []
        return entries
    }

    private mutating func read(_ line: ArraySlice<UInt8>, _ entries: inout [RemoteEntry]) {
        let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        if line.isEmpty { return }
        // Facts end with a semicolon each, then a space, then the name, whatever it holds.
        guard let space = line.firstIndex(of: UInt8(ascii: " ")),
            space == line.startIndex || line[line.index(before: space)] == UInt8(ascii: ";")
        else {
            isBroken = true
            return
        }
        let name = Array(line[line.index(after: space)...])
        guard RemoteEntry.isName(name) else { return }
        var entry = RemoteEntry(RawPath(name), size: .unknown)
        for fact in line[..<space].split(separator: UInt8(ascii: ";")) {
            let parts = fact.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            let value = String(decoding: parts[1], as: UTF8.self)
            switch String(decoding: parts[0], as: UTF8.self).lowercased() {
            case "type":
                switch value.lowercased() {
                case "cdir", "pdir": return
                case "dir": entry.isFolder = true
                default: break
                }
            case "size": entry.size = RemoteEntry.Size(value)
            case "modify": entry.modified = FTPTime.parse(value)
            default: break
            }
        }
        entries.append(entry)
    }
}

/// One page of `ListObjectsV2`. Its names wait for its end: whether they are percent-encoded may be said behind them.
private struct BucketPage {
    /// S3 gives a thousand.
    private static let most = 10_000

    let prefix: RawPath
    private var found: [(key: String, entry: RemoteEntry)] = []
    private var isEncoded = false
    private var isTruncated = false
    private var next: String?

    init(prefix: RawPath) { self.prefix = prefix }

    /// False: this is no such page.
    mutating func take(_ children: [XMLElement]) -> Bool {
        for child in children {
            switch child.name {
            case "EncodingType": isEncoded = child.trimmedText == "url"
            case "IsTruncated": isTruncated = child.trimmedText == "true"
            case "NextContinuationToken": next = child.trimmedText
            case "CommonPrefixes":
                guard let key = child.child("Prefix")?.text else { return false }
                found.append((key, RemoteEntry(RawPath(""), size: .unknown, isFolder: true)))
            case "Contents":
                // White space at a key's ends is part of it.
                guard let key = child.child("Key")?.text else { return false }
                var entry = RemoteEntry(RawPath(""), size: child.text(of: "Size").map { .init($0) } ?? .unknown)
                entry.modified = child.text(of: "LastModified").flatMap { Timestamp($0) }
                entry.etag = child.text(of: "ETag").map { String($0.filter { $0 != "\"" }) }
                found.append((key, entry))
            default: break
            }
        }
        return found.count <= Self.most
    }

    func end() -> ([RemoteEntry], ListingEnd) {
        if isTruncated, next?.isEmpty ?? true { return ([], ListingEnd(isWhole: false)) }
        let slash = UInt8(ascii: "/")
        let entries = found.compactMap { found -> RemoteEntry? in
            let key = isEncoded ? PercentEncoding.decodeForm(found.key) : Array(found.key.utf8)
            guard key.starts(with: prefix.bytes) else { return nil }
            var name = Array(key.dropFirst(prefix.bytes.count))
            // What has the prefix as its beginning need not lie in the folder that the prefix names.
            if found.entry.isFolder, name.last == slash { name.removeLast() }
            guard RemoteEntry.isName(name) else { return nil }
            var entry = found.entry
            entry.name = RawPath(name)
            return entry
        }
        return (entries, ListingEnd(isWhole: true, next: isTruncated ? next : nil, isEmpty: found.isEmpty))
    }
}

extension DavResource {
    func entry(named name: RawPath) -> RemoteEntry {
        RemoteEntry(
            name, size: listedSize, isFolder: isFolder, modified: modified,
            etag: etag.map { String($0.filter { $0 != "\"" }) }, digests: Self.digests(checksums ?? ""))
    }

    /// Nextcloud and ownCloud: `SHA1:… MD5:… ADLER32:…`, as they were computed or sent with the upload.
    static func digests(_ text: String) -> [TransferDigest] {
        text.split(separator: " ").compactMap { word in
            let parts = word.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { return nil }
            let value = parts[1].lowercased()
            let known = ["SHA256": ("sha-256", 64), "SHA1": ("sha-1", 40), "MD5": ("md5", 32)]
            guard let (algorithm, digits) = known[parts[0].uppercased()], value.utf8.count == digits,
                value.allSatisfy(\.isHexDigit)
            else { return nil }
            return TransferDigest(algorithm: algorithm, value: value)
        }
    }
}
