import Configuration
import DisplayText
import MartletKit

/// The place of a URL among the configured servers: people know those by the names that they gave them.
extension Sequence<Destination> {
    /// The one that names most of a URL's path.
    func above(_ url: String) -> Destination? {
        filter { url.isBelow($0.url) }.max { $0.url.count < $1.url.count }
    }

    /// `nas:photos/2024/`, as it can be typed again; `nil`: it is at none of them.
    /// - Parameter isEncoded: the URL of a batch is; that of one file ends in its name as it is.
    func named(_ url: String, isEncoded: Bool = true) -> String? {
        guard let server = above(url), let own = url.serverAndPath, let base = server.url.serverAndPath else {
            return nil
        }
        let path = own.dropFirst(base.count).drop { $0 == "/" }
        let plain = isEncoded ? String(validating: PercentText.decoded(path.utf8), as: UTF8.self) : String(path)
        return plain.map { "\(server.name):\($0)" }
    }
}

extension Model {
    /// The same, of a place in the list. The servers of another machine are named there.
    func named(place url: String, isEncoded: Bool = true) -> String? {
        machine == nil ? book.destinations.named(url, isEncoded: isEncoded) : nil
    }
}

extension String {
    /// A URL below another one; how the user is named in them and by which variant of the scheme they are reached does not matter.
    func isBelow(_ base: String) -> Bool {
        guard let own = serverAndPath, let above = base.serverAndPath, !above.isEmpty, own.hasPrefix(above) else {
            return false
        }
        // `nas/back` is not above `nas/backup`.
        return above.hasSuffix("/") || own.count == above.count || own.dropFirst(above.count).hasPrefix("/")
    }

    /// The host, port and path of a URL, without user and query.
    fileprivate var serverAndPath: String? {
        guard let scheme = firstRange(of: "://") else { return nil }
        let rest = self[scheme.upperBound...].prefix { $0 != "?" }
        let host = rest.prefix { $0 != "/" }
        return (host.split(separator: "@").last.map(String.init) ?? "") + rest.dropFirst(host.count)
    }
}
