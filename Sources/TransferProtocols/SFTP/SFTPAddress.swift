package import TransferModel

/// An SFTP URL taken apart: which server, and which path there. Carries no user and no password.
package struct SFTPAddress: Hashable, Sendable {
    /// Lower case; an IPv6 address in its brackets.
    package let host: String
    /// `nil` when the URL names none: ssh knows it.
    package let port: Int?
    /// Bytes as the server knows them; a relative one starts in the home folder.
    package let path: RawPath

    /// The server's name in messages: its host, and the port where that is not 22.
    package var server: String { port.map { TransferScheme.server(of: "sftp://\(host):\($0)") } ?? host }

    private init(host: String, port: Int?, path: RawPath) { (self.host, self.port, self.path) = (host, port, path) }

    private func at(_ path: RawPath) -> SFTPAddress { SFTPAddress(host: host, port: port, path: path) }

    /// `/~/x` is `x` below the home folder, where relative paths begin.
    private static func path(_ path: Substring) -> RawPath {
        let bytes = PercentEncoding.decode(path)
        let home = Array("/~/".utf8)
        if bytes.starts(with: home) { return RawPath(Array(bytes.dropFirst(home.count))) }
        return bytes == home.dropLast() ? RawPath("") : RawPath(bytes)
    }
}

extension SFTPAddress: PlaceAddress {
    package init?(_ url: PlaceURL) {
        // The authority has the grammar of an http URL's; a path is taken as it stands.
        guard let authority = HTTPAddress("http" + url.rest) else { return nil }
        let place = url.rest.dropFirst(3).prefix { $0 != "/" }
        // The colons of an address in brackets are its own.
        let named = place.drop { place.contains("]") && $0 != "]" }.contains(":")
        self.init(
            host: authority.host, port: named ? authority.port : nil,
            path: Self.path(url.rest.dropFirst(3).drop { $0 != "/" }))
    }

    package func below(_ path: RawPath) -> SFTPAddress? { at(self.path.appending(path)) }

    package var folder: SFTPAddress? { at(path.folder) }

    package var fileName: RawPath { path.lastSegment }

    package var askedServer: String { "sftp://\(host)" + (port.map { ":\($0)" } ?? "") }

    package var route: TransportRoute { .sftp(self) }
}
