package import TransferModel
import XMLReader

/// Reads the bodies of S3's answers. A body that is something else gives `nil`, whoever sent it.
enum S3Answers {
    /// The longest body that is read: a page of 1000 parts or uploads with keys of 1 KiB has 2 MB.
    static let longest = 8 << 20

    /// The most of an error, which has a dozen elements. Every refusal of a request that was signed is looked at, whoever sent it.
    private static let errorLimits = XMLLimits(bytes: 64 << 10, depth: 8, elements: 100, names: 200)

    /// An error, alone or within another element.
    static func error(_ body: [UInt8]) -> S3ErrorBody? {
        guard let root = try? XMLReader.read(body, limits: errorLimits) else { return nil }
        return (root.isNamed("Error") ? root : root.child("Error")).map(S3ErrorBody.init)
    }

    /// The ID of the new upload, from `InitiateMultipartUploadResult`.
    static func uploadID(_ body: [UInt8]) -> String? {
        document("InitiateMultipartUploadResult", body)?.text(of: "UploadId").flatMap(token)
    }

    /// A page of an upload's parts, from `ListPartsResult`.
    static func parts(_ body: [UInt8]) -> S3PartPage? {
        guard let root = document("ListPartsResult", body) else { return nil }
        var page = S3PartPage()
        for part in root.children("Part") {
            guard let number = part.text(of: "PartNumber").flatMap({ Int($0) }), S3PartCount.numbers.contains(number),
                let size = part.text(of: "Size").flatMap({ FileSize.read($0) }),
                let tag = part.text(of: "ETag").flatMap(token)
            else { return nil }
            page.parts[number] = S3PartPage.Part(size: size, tag: tag)
        }
        if root.text(of: "IsTruncated") == "true" {
            guard let next = root.text(of: "NextPartNumberMarker").flatMap({ Int($0) }) else { return nil }
            page.next = next
        }
        return page
    }

    /// The result in a 200 to Complete: it begins before the verdict is known, so it may be an error all the same.
    static func completion(_ body: [UInt8]) -> S3Completion? {
        guard let root = try? XMLReader.read(body) else { return nil }
        if root.isNamed("Error") { return .refused(S3ErrorBody(root)) }
        guard root.isNamed("CompleteMultipartUploadResult") else { return nil }
        return .stored(tag: root.text(of: "ETag").flatMap(token))
    }

    /// A page of unfinished uploads, from `ListMultipartUploadsResult`, asked for with encoded keys.
    static func uploads(_ body: [UInt8]) -> S3UploadPage? {
        guard let root = document("ListMultipartUploadsResult", body) else { return nil }
        let isEncoded = root.text(of: "EncodingType") == "url"
        // White space at a key's ends is part of it.
        func key(_ text: String) -> RawPath? {
            let bytes = isEncoded ? PercentEncoding.decodeForm(text) : Array(text.utf8)
            return bytes.count <= longestKey ? RawPath(bytes) : nil
        }
        var page = S3UploadPage()
        for upload in root.children("Upload") {
            guard let key = upload.child("Key").flatMap({ key($0.text) }),
                let id = upload.text(of: "UploadId").flatMap(token)
            else { return nil }
            page.uploads.append(
                S3Leftover(
                    key: key, uploadID: id, begun: upload.text(of: "Initiated").flatMap { Timestamp($0) }))
        }
        if root.text(of: "IsTruncated") == "true" {
            guard let key = root.child("NextKeyMarker").flatMap({ key($0.text) }) else { return nil }
            page.next = S3UploadPage.Marker(
                key: key, uploadID: root.text(of: "NextUploadIdMarker").flatMap(token) ?? "")
        }
        return page
    }

    /// A service's own name for something (upload ID, tag), which it gets back from us: written down, and sent with each request. `nil`:
    /// too long, or with bytes that no header may have.
    private static func token(_ text: String) -> String? {
        let isPlain = !text.isEmpty && text.utf8.count <= 2048 && text.utf8.allSatisfy { (33...126).contains($0) }
        return isPlain ? text : nil
    }

    /// Amazon's limit for keys.
    private static let longestKey = 1024

    private static func document(_ name: String, _ body: [UInt8]) -> XMLElement? {
        guard let root = try? XMLReader.read(body), root.isNamed(name) else { return nil }
        return root
    }
}

/// `<Error>`.
struct S3ErrorBody: Hashable, Sendable {
    /// Letters and digits; empty when the server wrote none, or something else.
    var code: String
    /// The region that the request should have been signed for.
    var region: S3Region?
    /// The server's clock, when it found ours wrong.
    var time: Timestamp?
    /// The signature or its keys were good once, and are not any more.
    var isExpiry = false

    init(code: String) { self.code = code }

    init(_ element: XMLElement) {
        let code = element.text(of: "Code") ?? ""
        let isWord = code.utf8.count <= 64 && code.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        self.code = isWord ? code : ""
        region = element.text(of: "Region").flatMap { S3Region(rawValue: $0) }
        time = element.text(of: "ServerTime").flatMap { Timestamp($0) }
        isExpiry =
            ["ExpiredToken", "RequestExpired"].contains(self.code)
            || (self.code == "AccessDenied" && element.text(of: "Message")?.contains("has expired") == true)
    }
}

/// The result of Complete.
enum S3Completion: Hashable {
    case stored(tag: String?)
    case refused(S3ErrorBody)
}

/// One page of the parts that an upload has.
struct S3PartPage: Hashable, Sendable {
    struct Part: Hashable, Sendable {
        var size: Int64
        /// Verbatim, quotes included.
        var tag: String
    }
    /// By their numbers, the first is 1.
    var parts: [Int: Part] = [:]
    /// The number after which the next page begins; `nil`: this is the last.
    var next: Int?
}

/// One page of the unfinished uploads of a bucket.
struct S3UploadPage: Hashable, Sendable {
    struct Marker: Hashable, Sendable {
        var key: RawPath
        var uploadID: String
    }
    var uploads: [S3Leftover] = []
    /// The upload after which the next page begins; `nil`: this is the last.
    var next: Marker?
}

/// An upload that was begun and neither finished nor taken away: its parts cost money as long as they lie.
package struct S3Leftover: Hashable, Sendable {
    package var key: RawPath
    package var uploadID: String
    /// By the server's clock.
    package var begun: Timestamp?

    package init(key: RawPath, uploadID: String, begun: Timestamp?) {
        self.key = key
        self.uploadID = uploadID
        self.begun = begun
    }
}

extension PercentEncoding {
    /// As `decode`, and a plus is a space: so S3 writes keys in lists.
    static func decodeForm(_ text: String) -> [UInt8] {
        decode(text.split(separator: "+", omittingEmptySubsequences: false).joined(separator: "%20"))
    }
}
