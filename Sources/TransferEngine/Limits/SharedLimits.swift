import TransferModel
import TransferQueue

/// Limits that several batches share: those that took theirs from the same configured server and still have it. Pure.
struct SharedLimits {
    /// The server's name, of each batch that draws from its limit.
    private(set) var names: [BatchID: String] = [:]
    /// Bytes a second: as the batch that was queued last has it.
    private(set) var rates: [String: Int64] = [:]

    init() {}

    /// - Parameters:
    ///   - orders: of the batches that may move.
    ///   - limits: those that the queue has. A batch that was given another than it was queued with has it for itself.
    init(_ orders: some Sequence<BatchOrder>, _ limits: [LimitScope: Int64]) {
        for order in orders.sorted(by: { $0.batch.rawValue < $1.batch.rawValue }) {
            guard let name = order.options.limitOf, let rate = limits[.batch(order.batch)],
                rate == order.options.bytesPerSecond
            else { continue }
            names[order.batch] = name
            rates[name] = rate
        }
    }
}
