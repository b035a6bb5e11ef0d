/// A timer that was set on a loop.
package struct LoopTimer: Sendable, Hashable {
    let number: UInt64

    /// For clocks turned by hand; a loop numbers its own.
    package init(number: UInt64) { self.number = number }
}

/// The timers of one loop, by deadline; equal deadlines in the order they were set.
///
/// A cancelled timer leaves its place in the heap behind and is skipped there, so cancelling costs one look-up.
struct TimerHeap {
    private struct Place {
        let deadline: MonotonicInstant
        let number: UInt64

        func isBefore(_ other: Place) -> Bool {
            (deadline, number) < (other.deadline, other.number)
        }
    }

    private var places: [Place] = []
    private var handlers: [UInt64: () -> Void] = [:]
    private var lastNumber: UInt64 = 0

    var count: Int { handlers.count }

    /// The earliest deadline of a timer that still counts.
    var nextDeadline: MonotonicInstant? {
        mutating get {
            dropCancelled()
            return places.first?.deadline
        }
    }

    mutating func add(_ deadline: MonotonicInstant, _ handler: @escaping () -> Void) -> LoopTimer {
        lastNumber += 1
        handlers[lastNumber] = handler
        places.append(Place(deadline: deadline, number: lastNumber))
        siftUp(places.count - 1)
        return LoopTimer(number: lastNumber)
    }

    mutating func cancel(_ timer: LoopTimer) {
        handlers[timer.number] = nil
        // Far-off timers that are set and cancelled again and again would otherwise pile up.
        if places.count > 64, places.count > 4 * handlers.count { rebuild() }
    }

    /// Removes what is due at `now` and returns its handlers in order.
    mutating func takeDue(_ now: MonotonicInstant) -> [() -> Void] {
        var due: [() -> Void] = []
        while let first = places.first, first.deadline <= now {
            removeFirst()
            if let handler = handlers.removeValue(forKey: first.number) { due.append(handler) }
        }
        return due
    }

    private mutating func dropCancelled() {
        while let first = places.first, handlers[first.number] == nil { removeFirst() }
    }

    private mutating func rebuild() {
        // A sorted array is a heap.
        places = places.filter { handlers[$0.number] != nil }.sorted { $0.isBefore($1) }
    }

    private mutating func removeFirst() {
        places.swapAt(0, places.count - 1)
        places.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < places.count && places[child].isBefore(places[least]) {
                least = child
            }
            if least == parent { return }
            places.swapAt(parent, least)
            parent = least
        }
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0, places[child].isBefore(places[(child - 1) / 2]) {
            places.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }
}
