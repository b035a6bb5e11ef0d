package import TransferModel

/// The transport that carries a protocol's exchanges, and where it leads.
package enum TransportRoute: Hashable, Sendable {
    /// Each exchange names its own address.
    case http
    case ftp(FTPAddress)
    case sftp(SFTPAddress)
}

/// A URL whose scheme is known, for the protocol that it means to read.
package struct PlaceURL: Sendable {
    package let scheme: TransferScheme
    /// Without user and query.
    package let text: String
    /// Without its question mark.
    package let query: String?
    package let s3: S3Place?

    /// `://` and all that follows.
    var rest: Substring { text.dropFirst(scheme.rawValue.count) }
}

/// The address of a file or folder at a server, as its protocol reads URLs.
package protocol PlaceAddress: Hashable, Sendable {
    /// `nil`: there is no such address.
    init?(_ url: PlaceURL)

    /// The address of what lies below this folder; an empty path is the folder itself. `nil`: the protocol cannot name it.
    func below(_ path: RawPath) -> Self?

    /// The folder that a file of this address lies in.
    var folder: Self? { get }

    /// The last segment of the path; empty after a slash.
    var fileName: RawPath { get }

    /// The server that is asked whether it can be used, for messages and for what was learnt of it.
    var askedServer: String { get }

    /// The key of facts about its server.
    /// - Parameter origin: of the lane.
    func factsKey(_ origin: String) -> String

    /// Says why the protocol cannot carry a path; `nil`: it can.
    /// - Parameter file: the local file that is to go there.
    static func refusal(of path: RawPath, for file: RawPath) -> TransferError?

    var route: TransportRoute { get }
}

extension PlaceAddress {
    package func factsKey(_ origin: String) -> String { origin }
    package static func refusal(of path: RawPath, for file: RawPath) -> TransferError? { nil }
    package var route: TransportRoute { .http }
}

extension RawPath {
    /// The folder that it is in; empty for the home.
    var folder: RawPath {
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return RawPath([]) }
        return RawPath(slash == 0 ? [UInt8(ascii: "/")] : Array(bytes[..<slash]))
    }

    /// The bytes behind the last slash.
    var lastSegment: RawPath {
        RawPath(bytes.lastIndex(of: UInt8(ascii: "/")).map { Array(bytes[($0 + 1)...]) } ?? bytes)
    }
}
