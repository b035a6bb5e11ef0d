public import TransferModel

/// The wanted limits; what is `nil` stays as it is.
public struct LimitsWish: Sendable, Hashable {
    /// A rate such as `512K`, `off`, or a timetable such as `08:00,512K 18:00,off`.
    public var up: String?
    public var down: String?
    public var transfers: Int?
    public var transfersPerHost: Int?
    /// A rate of 0 takes the limit away.
    public var scoped: [ScopedLimit]

    public init(
        up: String? = nil, down: String? = nil, transfers: Int? = nil, transfersPerHost: Int? = nil,
        scoped: [ScopedLimit] = []
    ) {
        self.up = up
        self.down = down
        self.transfers = transfers
        self.transfersPerHost = transfersPerHost
        self.scoped = scoped
    }
}
