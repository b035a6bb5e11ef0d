/// Speed histories, one for each of the batches that moved last: as many as have room, whatever the queue holds. A value; the caller
/// brings a clock's reading in nanoseconds.
public struct BatchSpeeds: Sendable {
    /// So many batches are remembered, 4 KiB each.
    public static let most = 32

    private var histories: [BatchID: SpeedHistory] = [:]
    private var movedAt: [BatchID: Int64] = [:]

    public init() {}

    /// Bytes have moved since the last time.
    public mutating func add(_ bytes: Int64, _ direction: TransferDirection, of batch: BatchID, at nanoseconds: Int64) {
        guard bytes > 0 else { return }
        if histories[batch] == nil {
            makeRoom()
            histories[batch] = SpeedHistory(at: nanoseconds)
        }
        histories[batch]?.add(bytes, direction, at: nanoseconds)
        movedAt[batch] = nanoseconds
    }

    /// The one that has stood still for longest goes.
    private mutating func makeRoom() {
        guard histories.count >= Self.most, let oldest = movedAt.min(by: { $0.value < $1.value })?.key else { return }
        (histories[oldest], movedAt[oldest]) = (nil, nil)
    }

    /// As of `SpeedHistory`; empty for a batch that has not moved, or so long ago that it is forgotten.
    public func series(of batch: BatchID, at nanoseconds: Int64) -> [SpeedSeries] {
        histories[batch]?.series(at: nanoseconds) ?? []
    }
}
