import TransferModel
import TransferQueue

/// The speeds of files that are over, and well: what moved in the last seconds goes on counting for their batches.
///
/// There is one meter for each file that moves and none for batches, folders or the whole, whose speeds are sums. For these sums
/// to neither fall nor double when one file follows another, a meter belongs to a place in the line rather than to a file: the
/// next file of the batch goes on with it. A value of the engine; at most as many as there are slots.
struct LeftSpeeds {
    private struct Left {
        let place: LinePlace
        let meter: SpeedMeter
    }

    /// The oldest first.
    private var left: [Left] = []

    /// A file is over and leaves its place in the line.
    /// - Parameter most: the number of slots; beyond it the oldest goes.
    mutating func leave(_ meter: SpeedMeter, of place: LinePlace, most: Int, at nanoseconds: Int64) {
        guard meter.bytesPerSecond(at: nanoseconds) > 0 else { return }
        left.append(Left(place: place, meter: meter))
        if left.count > max(1, most) { left.removeFirst(left.count - max(1, most)) }
    }

    /// A file begins and takes a place in the line: that of another one of its batch when there is one, else the one that was left
    /// first.
    /// - Returns: what it goes on with; after a pause, or instead of another batch's file, it begins anew.
    mutating func take(for place: LinePlace, at nanoseconds: Int64) -> SpeedMeter {
        let own = left.lastIndex { $0.place.batch == place.batch && $0.place.direction == place.direction }
        guard let index = own ?? left.firstIndex(where: { $0.place.direction == place.direction }) else {
            return SpeedMeter(at: nanoseconds)
        }
        let taken = left.remove(at: index)
        guard own != nil, !taken.meter.isQuiet(for: SpeedMeter.breath, at: nanoseconds) else {
            return SpeedMeter(at: nanoseconds)
        }
        var meter = taken.meter
        meter.goOn(at: nanoseconds)
        return meter
    }

    /// Nothing of these batches counts any more.
    mutating func forget(_ batches: Set<BatchID>) {
        left.removeAll { batches.contains($0.place.batch) }
    }

    /// The speeds that still count, above 0.
    mutating func speeds(at nanoseconds: Int64) -> [LeftSpeed] {
        left.removeAll { $0.meter.bytesPerSecond(at: nanoseconds) == 0 }
        return left.map { left in
            LeftSpeed(
                batch: left.place.batch, folder: left.place.folder, direction: left.place.direction,
                bytesPerSecond: left.meter.bytesPerSecond(at: nanoseconds))
        }
    }
}

/// The batch, folder and direction that a meter measures the speed of.
struct LinePlace {
    var batch: BatchID
    var folder: FolderID
    var direction: TransferDirection
}

extension Attempt {
    var linePlace: LinePlace {
        LinePlace(batch: task.batch, folder: task.folder, direction: direction)
    }
}
