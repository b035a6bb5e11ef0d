import TransferModel
import XMLReader

extension DavMessages {
    /// Asks for a resource's type, the bytes available (RFC 4331) and our privileges (RFC 3744 section 5.4).
    static func quota(_ address: HTTPAddress) -> Exchange {
        let body =
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<d:propfind xmlns:d=\"DAV:\"><d:prop><d:resourcetype/>"
            + "<d:quota-available-bytes/><d:current-user-privilege-set/></d:prop></d:propfind>"
        let headers = [
            HeaderField("Depth", "0"), HeaderField("Content-Type", "application/xml; charset=utf-8"),
        ]
        return .http(
            HTTPExchange(
                .propfind, address, headers: headers, body: .bytes(Array(body.utf8)), sink: .document(limit: 1 << 20)))
    }
}

/// The answer to `DavMessages.quota`; `nil` where it does not tell.
struct DavQuota: Hashable, Sendable {
    /// Bytes that may still be stored.
    var available: Int64?
    var writable: Bool?

    init(_ body: [UInt8]) {
        guard let root = try? XMLReader.read(body), root.isNamed("multistatus", in: "DAV:"),
            let response = root.child("response", in: "DAV:")
        else { return }
        for group in response.children("propstat", in: "DAV:") {
            guard let status = group.text(of: "status", in: "DAV:")?.split(separator: " "), status.count >= 2,
                status[1].hasPrefix("2"), let found = group.child("prop", in: "DAV:")
            else { continue }
            // Negative numbers are what some servers write for "unlimited" and "unknown".
            let room = found.text(of: "quota-available-bytes", in: "DAV:").flatMap { Int64($0) }
            if let room, room >= 0 { available = room }
            guard let privileges = found.child("current-user-privilege-set", in: "DAV:") else { continue }
            let granted = privileges.children("privilege", in: "DAV:").flatMap(\.children).map(\.name)
            // An empty set is what servers give that do not know privileges.
            if !granted.isEmpty {
                writable = !Set(granted).isDisjoint(with: ["all", "write", "write-content", "bind"])
            }
        }
    }
}
