/// One name that a server lists in a folder. Nothing of it is trusted: the name may hold anything, and may come twice.
package struct RemoteEntry: Hashable, Sendable {
    /// The length as the server tells it.
    package enum Size: Hashable, Sendable {
        /// It says nothing.
        case unknown
        case bytes(Int64)
        /// It says what no file's length can be.
        case impossible

        /// The largest size that is believed: 2^53, as far as JSON's numbers are exact.
        package static let largest: Int64 = 1 << 53

        /// Reads digits; anything else is `impossible`.
        package init(_ text: some StringProtocol) {
            let isNumber = !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) }
            guard isNumber, let bytes = Int64(text), bytes <= Self.largest else {
                self = .impossible
                return
            }
            self = .bytes(bytes)
        }
    }

    /// One segment, bytes as they are.
    package var name: RawPath
    package var size: Size
    package var isFolder: Bool
    /// To whatever precision the listing has.
    package var modified: Timestamp?
    /// Without its quotes; `nil`, too, where it is none that can be shown as it is.
    package var etag: String? { didSet { etag = etag.flatMap(Self.plainTag) } }
    /// Digests of the whole file that the server says it keeps, one of each kind.
    package var digests: [TransferDigest] { didSet { digests = Self.oneOfEach(digests) } }

    package init(
        _ name: RawPath, size: Size, isFolder: Bool = false, modified: Timestamp? = nil, etag: String? = nil,
        digests: [TransferDigest] = []
    ) {
        self.name = name
        self.size = size
        self.isFolder = isFolder
        self.modified = modified
        self.etag = etag.flatMap(Self.plainTag)
        self.digests = Self.oneOfEach(digests)
    }

    /// The first that is told counts: a server could tell any number.
    private static func oneOfEach(_ digests: [TransferDigest]) -> [TransferDigest] {
        if digests.count < 2 { return digests }
        var kinds: Set<String> = []
        return digests.filter { kinds.insert($0.algorithm).inserted }
    }

    /// Bytes that come from the server in it.
    package var foreignBytes: Int {
        name.bytes.count + (etag?.utf8.count ?? 0) + digests.reduce(0) { $0 + $1.value.utf8.count }
    }

    /// A tag of visible ASCII that is not too long: others would forge lines where it is written down.
    package static func plainTag(_ tag: String) -> String? {
        let isPlain = !tag.isEmpty && tag.utf8.count <= 256 && tag.utf8.allSatisfy { (33...126).contains($0) }
        return isPlain ? tag : nil
    }

    /// The longest name that any protocol of ours can give a file (keys of S3).
    private static let longestName = 1024

    /// True when a file may be called so: one segment that is neither this folder nor the one above.
    package static func isName(_ bytes: [UInt8]) -> Bool {
        !bytes.isEmpty && bytes.count <= longestName && bytes != [UInt8(ascii: ".")]
            && bytes != [UInt8(ascii: "."), UInt8(ascii: ".")]
            && !bytes.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
    }
}
