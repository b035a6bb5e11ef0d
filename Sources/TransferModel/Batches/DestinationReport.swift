/// A server's answer to the question whether it can be used, without anything being written there. Values that it
/// does not tell are unknown.
public struct DestinationReport: Codable, Hashable, Sendable {
    /// It answered, and let us in where it asked who we are.
    public var ok: Bool
    /// The time that the check took.
    public var milliseconds: Int64
    /// By which uploads would go there: `put`, `tus`, `ietf`, `dav`, `s3`, `sftp`, `ftp`.
    @OrNull public var `protocol`: String?
    /// `nil`: there was none, as at a public server.
    @OrNull public var login: Login?
    /// True when the folder is there; one that is missing is made by the first upload.
    @OrNull public var exists: Bool?
    /// True when files may be written there, as far as a server says so by itself.
    @OrNull public var writable: Bool?
    @OrNull public var freeBytes: Int64?
    /// The reason why it cannot be used, and the remedy.
    @OrNull public var error: TransferError?

    /// The result of the login by name and password, or by keys.
    public enum Login: String, Codable, Hashable, Sendable, CaseIterable {
        /// The server lets in who has them, and nobody else.
        case ok
        /// It answers everybody: whether they are good shows with the first file.
        case notAsked
    }

    public init(
        ok: Bool, milliseconds: Int64, protocol name: String? = nil, login: Login? = nil, exists: Bool? = nil,
        writable: Bool? = nil,
        freeBytes: Int64? = nil, error: TransferError? = nil
    ) {
        self.ok = ok
        self.milliseconds = milliseconds
        _protocol = OrNull(wrappedValue: name)
        _login = OrNull(wrappedValue: login)
        _exists = OrNull(wrappedValue: exists)
        _writable = OrNull(wrappedValue: writable)
        _freeBytes = OrNull(wrappedValue: freeBytes)
        _error = OrNull(wrappedValue: error)
    }
}
