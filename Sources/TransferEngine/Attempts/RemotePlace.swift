import TransferModel
import TransferProtocols

/// A place at a server, as its scheme's protocols know it.
struct RemotePlace {
    enum Address {
        case http(HTTPAddress)
        case s3(S3Address)
        case ftp(FTPAddress)
        case sftp(host: String, port: Int?, path: RawPath)
    }

    let scheme: TransferScheme
    let address: Address

    /// - Parameters:
    ///   - url: without user and query.
    ///   - query: without its question mark.
    init?(_ url: String, query: String? = nil, s3 place: S3Place? = nil) {
        guard let scheme = TransferScheme(of: url) else { return nil }
        self.scheme = scheme
        let rest = url.dropFirst(scheme.rawValue.count)
        switch scheme {
        case .s3:
            guard let address = S3Address(url, place: place ?? S3Place()) else { return nil }
            self.address = .s3(address)
        case .ftp, .ftps, .ftpes:
            guard let address = FTPAddress(url) else { return nil }
            self.address = .ftp(address)
        case .sftp:
            // The authority has the grammar of an http URL's; a path is taken as it stands.
            guard let authority = HTTPAddress("http" + rest) else { return nil }
            let place = rest.dropFirst(3).prefix { $0 != "/" }
            // The colons of an address in brackets are its own.
            let named = place.drop { place.contains("]") && $0 != "]" }.contains(":")
            self.address = .sftp(
                host: authority.host, port: named ? authority.port : nil,
                path: Self.sftpPath(rest.dropFirst(3).drop { $0 != "/" }))
        case .http, .https, .tusHTTP, .tusHTTPS, .ietfHTTP, .ietfHTTPS, .dav, .davs:
            guard let http = scheme.overHTTP, let address = HTTPAddress(http + rest + (query.map { "?" + $0 } ?? ""))
            else { return nil }
            self.address = .http(address)
        }
    }

    init(_ scheme: TransferScheme, _ address: Address) {
        self.scheme = scheme
        self.address = address
    }

    /// The name of an SFTP server in messages: its host, and the port where that is not 22.
    static func server(_ host: String, _ port: Int?) -> String {
        port.map { TransferScheme.server(of: "sftp://\(host):\($0)") } ?? host
    }

    /// `/~/x` is `x` below the home folder, where relative paths begin.
    private static func sftpPath(_ path: Substring) -> RawPath {
        let bytes = PercentEncoding.decode(path)
        let home = Array("/~/".utf8)
        if bytes.starts(with: home) { return RawPath(Array(bytes.dropFirst(home.count))) }
        return bytes == home.dropLast() ? RawPath("") : RawPath(bytes)
    }

    /// A file below this place; an empty path is this place itself.
    func appending(_ path: RawPath) -> RemotePlace? {
        if path.bytes.isEmpty { return self }
        switch address {
        case .http(let address): return RemotePlace(scheme, .http(address.appending(path)))
        case .s3(let address): return RemotePlace(scheme, .s3(address.appending(path)))
        case .ftp(let address): return address.appending(path).map { RemotePlace(scheme, .ftp($0)) }
        case .sftp(let host, let port, let base):
            return RemotePlace(scheme, .sftp(host: host, port: port, path: base.appending(path)))
        }
    }

    /// The key of facts about its server: `origin` of the lane, but a bucket's service where that says more.
    func factsKey(_ origin: String) -> String {
        if case .s3(let address) = address { address.origin } else { origin }
    }

    /// The last segment of the path; empty after a slash.
    var lastSegment: RawPath {
        switch address {
        case .http(let address): RawPath(address.lastSegment)
        case .s3(let address): address.lastSegment
        case .ftp(let address): Self.last(address.path)
        case .sftp(_, _, let path): Self.last(path)
        }
    }

    private static func last(_ path: RawPath) -> RawPath {
        RawPath(path.bytes.lastIndex(of: UInt8(ascii: "/")).map { Array(path.bytes[($0 + 1)...]) } ?? path.bytes)
    }
}
