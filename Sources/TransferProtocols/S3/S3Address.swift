package import TransferModel

/// An object's place: bucket, key and the service that has them. Where its requests go follows from it and the bucket's region.
///
/// On AWS the bucket is the host's first label, unless a dot in its name would break the certificate; with an endpoint of one's own it
/// is the path's first segment, which every server understands.
package struct S3Address: Codable, Hashable, Sendable {
    package var bucket: String
    /// The key's bytes, without a slash in front; of a prefix, with or without one at its end. May be empty.
    package var key: RawPath
    package var place: S3Place

    package init(bucket: String, key: RawPath, place: S3Place) {
        self.bucket = bucket
        self.key = key
        self.place = place
    }

    /// Reads `s3://bucket/prefix`, percent-encoded where a URL needs it. `nil` when no bucket is named, one that no bucket is called, or an
    /// endpoint that is no address.
    package init?(_ text: String, place: S3Place) {
        let scheme = "s3://"
        guard text.lowercased().hasPrefix(scheme) else { return nil }
        let rest = text.dropFirst(scheme.count).prefix { $0 != "#" }
        let bucket = rest.prefix { $0 != "/" }
        let key = PercentEncoding.decode(rest.dropFirst(bucket.count + 1))
        guard Self.isBucket(bucket), !key.contains(0), place.endpoint.map({ HTTPAddress($0) != nil }) ?? true else {
            return nil
        }
        self.init(bucket: String(bucket), key: RawPath(key), place: place)
    }

    /// The address of a file below this prefix; an empty path is this address itself.
    package func appending(_ path: RawPath) -> S3Address {
        if path.bytes.isEmpty { return self }
        var longer = self
        longer.key = key.appending(path)
        return longer
    }

    /// The region that is signed for until the server names another; `nil` when a person named what is none.
    package func region(_ facts: HostFacts) -> S3Region? {
        if let learnt = facts.region { return learnt }
        guard let named = place.region, !named.isEmpty else { return .usual }
        return S3Region(rawValue: named)
    }

    /// The object's URL. `query`: already encoded, without its question mark.
    package func object(in region: S3Region, query: String = "") -> HTTPAddress? {
        address(region, key: PercentEncoding.encode(key.bytes, keepingSlashes: true), query)
    }

    /// The bucket's URL.
    package func bucket(in region: S3Region, query: String = "") -> HTTPAddress? { address(region, key: "", query) }

    /// Key of limits and facts: the same for all objects of a bucket, whatever region it turns out to be in.
    package var origin: String {
        guard let endpoint = place.endpoint else {
            return isHostLabel ? "https://\(bucket).s3.amazonaws.com" : "https://s3.amazonaws.com"
        }
        return HTTPAddress(endpoint)?.origin ?? endpoint
    }

    /// As a person writes it.
    package var text: String { "s3://\(bucket)/\(key.displayed)" }

    // MARK: Hosts

    private func address(_ region: S3Region, key: String, _ query: String) -> HTTPAddress? {
        let question = query.isEmpty ? "" : "?" + query
        if let endpoint = place.endpoint {
            guard let server = HTTPAddress(endpoint) else { return nil }
            let folder = server.target.prefix { $0 != "?" }
            let slash = folder.hasSuffix("/") ? "" : "/"
            return HTTPAddress(server, target: "\(folder)\(slash)\(encodedBucket)/\(key)\(question)")
        }
        // A region comes from a person or a server: it must not name a host of its own.
        guard region.rawValue.utf8.allSatisfy(Self.isLabelByte) else { return nil }
        let service = "s3.\(region).amazonaws.com" + (region.rawValue.hasPrefix("cn-") ? ".cn" : "")
        return isHostLabel
            ? HTTPAddress("https://\(bucket).\(service)/\(key)\(question)")
            : HTTPAddress("https://\(service)/\(encodedBucket)/\(key)\(question)")
    }

    private var encodedBucket: String { PercentEncoding.encode(Array(bucket.utf8)) }

    /// True when the bucket can be one label of a host's name that the service's certificate covers.
    private var isHostLabel: Bool {
        (3...63).contains(bucket.utf8.count) && bucket.utf8.allSatisfy(Self.isLabelByte) && !bucket.hasPrefix("-")
            && !bucket.hasSuffix("-")
    }

    private static func isLabelByte(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || byte == UInt8(ascii: "-")
    }

    /// Old buckets and other servers allow more than AWS does today.
    private static func isBucket(_ text: Substring) -> Bool {
        (1...255).contains(text.utf8.count) && text != "." && text != ".."
            && text.utf8.allSatisfy {
                isLabelByte($0) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) || $0 == UInt8(ascii: ".")
                    || $0 == UInt8(ascii: "_")
            }
    }
}
