package import TransferModel
import XMLReader

/// Lists all keys of a bucket that begin so, without those below a further slash, page by page.
struct S3FolderListing: Inquirer {
    private let address: S3Address
    private var channel: S3Channel?
    private var token: String?
    /// Pages that were taken, and the token of one of them: whoever leads round in a circle comes by it again.
    private var pages = 0
    private var landmark: String?
    private var emptyPages = 0

    /// - Parameter facts: what is known of the bucket, under its `origin`.
    init(_ address: S3Address, _ facts: HostFacts) {
        self.address = address
        channel = S3Channel(address, facts)
    }

    mutating func begin() -> InquiryStep {
        var query = ""
        if let token { query += "continuation-token=" + PercentEncoding.encode(Array(token.utf8)) + "&" }
        query += "delimiter=%2F&encoding-type=url&list-type=2&max-keys=1000&prefix="
        query += PercentEncoding.encode(address.key.bytes)
        guard var exchange = channel?.bucketExchange(query: query) else {
            return .fail(.noRegion(address.place.region ?? ""))
        }
        let slash = UInt8(ascii: "/")
        let end = address.key.bytes.lastIndex(of: slash).map { $0 + 1 } ?? 0
        exchange.sink = .listing(.bucket(prefix: RawPath(Array(address.key.bytes[..<end]))))
        return .ask(.http(exchange))
    }

    mutating func answered(_ end: ExchangeEnd, _ found: inout ListedFolder) -> InquiryStep {
        // Without a channel nothing was asked.
        guard var channel else { return begin() }
        let verdict = channel.judge(end, lesson: channel.lessons, hasAccepted: false)
        self.channel = channel
        switch verdict {
        case .success:
            guard end.failure == nil, let listing = end.listing, listing.isWhole else {
                return .over(.wait(WaitDemand(.backoff, end.failure?.error ?? .noListing(channel.host))))
            }
            return next(listing, channel.host)
        case .again(let learnt): return begin().after(learnt.map { [.learned($0)] } ?? [])
        case .silent(let error, _): return .broken(error)
        case .refused(let refusal):
            if refusal.code == "NoSuchKey" { return .missing(&found) }
            switch refusal.decision {
            case .wait(let demand): return .over(.wait(demand))
            case .fail(let error): return .fail(error)
            }
        }
    }

    private mutating func next(_ listing: ListingEnd, _ host: String) -> InquiryStep {
        guard let next = listing.next else { return .done }
        emptyPages = listing.isEmpty ? emptyPages + 1 : 0
        pages += 1
        // A page that leads nowhere, or back, would be asked for again and again.
        guard next != token, next != landmark, emptyPages < ListedFolder.mostEmptyPages else {
            return .fail(.endlessListing(host))
        }
        // A power of two: sooner or later it lies in the circle, and is far enough away for all of it.
        if pages.nonzeroBitCount == 1 { landmark = next }
        token = next
        return begin()
    }
}

extension ListingFormat {
    private struct Page: ListingSyntax {
        let prefix: RawPath
        func parser() -> any ListingParser { BucketPage(prefix: prefix) }
    }

    /// `ListBucketResult` of the keys that begin so.
    package static func bucket(prefix: RawPath) -> ListingFormat { ListingFormat(Page(prefix: prefix)) }
}

/// One page of `ListObjectsV2`. Its names wait for its end: whether they are percent-encoded may be said behind them.
struct BucketPage: ListingParser {
    /// S3 gives a thousand.
    private static let most = 10_000
    /// A key has at most 1,024 bytes, each of which may be written as three.
    private static let longestKey = 3 * 1024
    /// The place where the next page begins: services write it at will, most of them from a key.
    private static let longestToken = 8 << 10

    private let prefix: RawPath
    private let feed = XMLFeed()
    private(set) var isBroken = false
    private var found: [(key: String, entry: RemoteEntry)] = []
    private var isEncoded = false
    private var isTruncated = false
    private var next: String?

    init(prefix: RawPath) { self.prefix = prefix }

    mutating func take(_ bytes: [UInt8]) -> [RemoteEntry] {
        guard let children = try? feed.take(bytes), take(children) else {
            isBroken = true
            return []
        }
        return []
    }

    mutating func finish() -> ([RemoteEntry], ListingEnd) {
        guard let children = try? feed.finish(), take(children), feed.root?.isNamed("ListBucketResult") == true else {
            return ([], ListingEnd(isWhole: false))
        }
        return end()
    }

    /// False: this is no such page.
    private mutating func take(_ children: [XMLElement]) -> Bool {
        for child in children {
            switch child.name {
            case "EncodingType": isEncoded = child.trimmedText == "url"
            case "IsTruncated": isTruncated = child.trimmedText == "true"
            case "NextContinuationToken":
                next = child.trimmedText
                if next.map({ $0.utf8.count > Self.longestToken }) ?? false { return false }
            case "CommonPrefixes":
                guard let key = Self.key(child.child("Prefix")) else { return false }
                found.append((key, RemoteEntry(RawPath(""), size: .unknown, isFolder: true)))
            case "Contents":
                // White space at a key's ends is part of it.
                guard let key = Self.key(child.child("Key")) else { return false }
                var entry = RemoteEntry(RawPath(""), size: child.text(of: "Size").map { .init($0) } ?? .unknown)
                entry.modified = child.text(of: "LastModified").flatMap { Timestamp($0) }
                entry.etag = child.text(of: "ETag").map { String($0.filter { $0 != "\"" }) }
                found.append((key, entry))
            default: break
            }
        }
        return found.count <= Self.most
    }

    private static func key(_ element: XMLElement?) -> String? {
        element.flatMap { $0.text.utf8.count <= longestKey ? $0.text : nil }
    }

    private func end() -> ([RemoteEntry], ListingEnd) {
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
