/// What a server said when it was asked whether it can be used, without anything being written there. Values that it
/// does not tell are unknown.
public struct DestinationReport: Codable, Hashable, Sendable {
    /// It answered and let us in.
    public var ok: Bool
    /// How long that took.
    public var milliseconds: Int64
    /// By which uploads would go there: `put`, `tus`, `ietf`, `dav`, `s3`, `sftp`, `ftp`.
    @OrNull public var `protocol`: String?
    /// Whether the folder is there; one that is missing is made by the first upload.
    @OrNull public var exists: Bool?
    /// Whether files may be written there, as far as a server says so by itself.
    @OrNull public var writable: Bool?
    @OrNull public var freeBytes: Int64?
    /// Why it cannot be used, and what would mend it.
    @OrNull public var error: TransferError?

    public init(
        ok: Bool, milliseconds: Int64, protocol name: String? = nil, exists: Bool? = nil, writable: Bool? = nil,
        freeBytes: Int64? = nil, error: TransferError? = nil
    ) {
        self.ok = ok
        self.milliseconds = milliseconds
        _protocol = OrNull(wrappedValue: name)
        _exists = OrNull(wrappedValue: exists)
        _writable = OrNull(wrappedValue: writable)
        _freeBytes = OrNull(wrappedValue: freeBytes)
        _error = OrNull(wrappedValue: error)
    }
}
