/// The schemes of URLs that can be uploaded to or downloaded from: the one list, for fronts, queue and engine.
public enum TransferScheme: String, Sendable, Hashable, CaseIterable {
    case http, https
    /// By that protocol, without asking the host.
    case tusHTTP = "tus+http"
    case tusHTTPS = "tus+https"
    case ietfHTTP = "ietf+http"
    case ietfHTTPS = "ietf+https"
    /// WebDAV over http and https.
    case dav, davs
    case s3
    case sftp
    /// Plain; TLS from the first byte; TLS asked for on the plain port.
    case ftp, ftps, ftpes

    /// The scheme that a URL begins with, whatever its case; `nil`: none of these.
    public init?(of url: some StringProtocol) {
        guard let end = url.firstIndex(of: ":") else { return nil }
        self.init(rawValue: url[..<end].lowercased())
    }

    /// The port when the URL names none; `nil` for `s3`, whose host is another.
    public var defaultPort: Int? {
        switch self {
        case .http, .tusHTTP, .ietfHTTP, .dav: 80
        case .https, .tusHTTPS, .ietfHTTPS, .davs: 443
        case .ftp, .ftpes: 21
        case .ftps: 990
        case .sftp: 22
        case .s3: nil
        }
    }

    /// The name of a URL's server: its host, and the port where that is not the scheme's own; no user. A bucket of S3 is no host,
    /// and keeps its scheme. Empty for what is no URL.
    package static func server(of url: some StringProtocol) -> String {
        guard let mark = url.firstRange(of: "://") else { return "" }
        let authority = url[mark.upperBound...].prefix { !"/?#".contains($0) }
        let place = (authority.split(separator: "@").last ?? "").lowercased()
        let scheme = TransferScheme(of: url)
        if scheme == .s3 { return "s3://" + place }
        guard let port = scheme?.defaultPort, place.hasSuffix(":\(port)") else { return place }
        return String(place.dropLast(":\(port)".count))
    }

    /// `http` or `https` for what goes over it by the URL's own host.
    public var overHTTP: String? {
        switch self {
        case .http, .tusHTTP, .ietfHTTP, .dav: "http"
        case .https, .tusHTTPS, .ietfHTTPS, .davs: "https"
        case .s3, .sftp, .ftp, .ftps, .ftpes: nil
        }
    }

    /// True when files can be fetched by it; the resumable-upload protocols only send.
    public var downloads: Bool {
        switch self {
        case .tusHTTP, .tusHTTPS, .ietfHTTP, .ietfHTTPS: false
        default: true
        }
    }

    /// True when its servers may be asked to list a folder.
    public var lists: Bool {
        switch self {
        case .dav, .davs, .s3, .sftp, .ftp, .ftps, .ftpes: true
        case .http, .https, .tusHTTP, .tusHTTPS, .ietfHTTP, .ietfHTTPS: false
        }
    }

    /// True when the URL's path may carry a query.
    public var hasQuery: Bool { overHTTP != nil }
}
