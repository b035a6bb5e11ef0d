import DisplayText
import LinuxSystem
import TransferModel

/// The uploads that bytes come for, and how fast: what a terminal shows while they come. Any thread.
final class UploadsUnderWay: Sendable {
    /// The key of an upload: its own name, which several requests may use, or a number for one that is a single request.
    fileprivate enum Key: Hashable, Sendable {
        case upload(UploadID)
        case request(UInt64)
    }

    private struct Entry {
        let name: SafeText
        /// The order in which uploads began and are shown.
        let number: UInt64
        var total: UInt64?
        var received: UInt64
        /// Requests that bring bytes for it now.
        var requests = 1
        /// The bytes received at the last look, and the time of that look.
        var seen: UInt64
        var seenAt: MonotonicInstant
        var rate: Double?
        /// When something came for it last.
        var movedAt: MonotonicInstant
    }

    /// The time for which an upload without a request stays on the screen: its next piece may be on its way.
    private static let patience = Duration.seconds(5)

    private struct State {
        var entries: [Key: Entry] = [:]
        var lastNumber: UInt64 = 0
    }

    private let characterSet: CharacterSet
    private let state = Mutex(State())
    /// Told whenever there is something new to show; any thread.
    private let changed: @Sendable () -> Void

    init(_ characterSet: CharacterSet, changed: @escaping @Sendable () -> Void) {
        self.characterSet = characterSet
        self.changed = changed
    }

    /// A request has begun to bring an upload's bytes, of which `received` are there. `nil` for `id`: it is a single request.
    func show(_ id: UploadID?, _ path: TargetPath, received: UInt64, total: UInt64?) -> Shown {
        defer { changed() }
        let key = state.withLock { state in
            state.lastNumber += 1
            let key = id.map(Key.upload) ?? .request(state.lastNumber)
            if var entry = state.entries[key] {
                entry.requests += 1
                (entry.received, entry.seen, entry.movedAt) = (received, min(entry.seen, received), .now)
                entry.total = total ?? entry.total
                state.entries[key] = entry
            } else {
                state.entries[key] = Entry(
                    name: SafeText(path.displayed, characterSet: characterSet), number: state.lastNumber, total: total,
                    received: received, seen: received, seenAt: .now, movedAt: .now)
            }
            return key
        }
        return Shown(uploads: self, key: key)
    }

    /// A request's hold on what is shown of its upload.
    struct Shown {
        fileprivate let uploads: UploadsUnderWay
        fileprivate let key: Key

        /// More bytes are there.
        func advance(to received: UInt64) { uploads.advance(key, to: received) }

        /// The request is over, and so is the upload unless more may come. Called once.
        func end(isOver: Bool) { uploads.end(key, isOver: isOver) }
    }

    private func advance(_ key: Key, to received: UInt64) {
        state.withLock { $0.entries[key]?.received = received }
        changed()
    }

    private func end(_ key: Key, isOver: Bool) {
        state.withLock { state in
            guard var entry = state.entries[key] else { return }
            entry.requests -= 1
            entry.movedAt = .now
            state.entries[key] = isOver && entry.requests <= 0 ? nil : entry
        }
        changed()
    }

    /// One line each, in the order in which they began.
    ///
    /// What no request brings bytes for is left out after a moment.
    ///
    /// - Parameter isQuiet: nothing has come for a while: no rate is true any more, and that moment is over.
    func lines(at now: MonotonicInstant, isQuiet: Bool) -> [ProgressLine] {
        state.withLock { state in
            state.entries = state.entries.filter { _, entry in
                entry.requests > 0 || !isQuiet && entry.movedAt.duration(to: now) < Self.patience
            }
            state.entries = state.entries.mapValues { Self.looked($0, now, isQuiet) }
            return state.entries.values.sorted { $0.number < $1.number }.map { entry in
                ProgressLine(
                    name: entry.name, received: entry.received, total: entry.total, rate: entry.rate.map { UInt64($0) })
            }
        }
    }

    /// Half of what was measured now, half of what was shown: steady enough to be read.
    private static func looked(_ last: Entry, _ now: MonotonicInstant, _ isQuiet: Bool) -> Entry {
        var entry = last
        let seconds = last.seenAt.duration(to: now) / .seconds(1)
        if isQuiet {
            entry.rate = nil
        } else if seconds >= 0.1 {
            let measured = Double(last.received - min(last.received, last.seen)) / seconds
            entry.rate = last.rate.map { ($0 + measured) / 2 } ?? measured
        } else {
            return last
        }
        (entry.seen, entry.seenAt) = (last.received, now)
        return entry
    }
}
