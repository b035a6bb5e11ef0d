import CLinux
import Glibc

/// The events that a descriptor's owner waits for. An error or a hang-up is told always.
package struct Interest: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Bytes, a connection, or the peer's end.
    package static let read = Interest(rawValue: 1)
    /// Room to write, or a connect that has ended.
    package static let write = Interest(rawValue: 2)

    var events: UInt32 {
        (contains(.read) ? EPOLLIN.rawValue : 0) | (contains(.write) ? EPOLLOUT.rawValue : 0)
    }
}

/// The events that a descriptor is ready for.
package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let read = Readiness(rawValue: 1)
    package static let write = Readiness(rawValue: 2)
    /// `EPOLLERR` or `EPOLLHUP`: the next read or write says what is wrong.
    package static let failed = Readiness(rawValue: 4)

    init(events: UInt32) {
        var ready: Readiness = []
        if events & EPOLLIN.rawValue != 0 { ready.insert(.read) }
        if events & EPOLLOUT.rawValue != 0 { ready.insert(.write) }
        if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { ready.insert(.failed) }
        self = ready
    }
}

/// A descriptor's place in a loop; packed into epoll's user data, so that an event for an earlier use of the same
/// number is recognised and dropped.
package struct Registration: Sendable, Hashable {
    package let descriptor: Int32
    let number: UInt32

    var userData: UInt64 { UInt64(UInt32(bitPattern: descriptor)) << 32 | UInt64(number) }
}

/// The handler of each descriptor's events.
struct RegistrationTable {
    private struct Entry {
        let number: UInt32
        let handler: (Readiness) -> Void
    }

    private var entries: [Int32: Entry] = [:]
    private var lastNumber: UInt32 = 0

    mutating func add(_ descriptor: Int32, _ handler: @escaping (Readiness) -> Void) -> Registration {
        lastNumber &+= 1
        entries[descriptor] = Entry(number: lastNumber, handler: handler)
        return Registration(descriptor: descriptor, number: lastNumber)
    }

    func isCurrent(_ registration: Registration) -> Bool {
        entries[registration.descriptor]?.number == registration.number
    }

    mutating func remove(_ registration: Registration) -> Bool {
        guard isCurrent(registration) else { return false }
        entries[registration.descriptor] = nil
        return true
    }

    func handler(of userData: UInt64) -> ((Readiness) -> Void)? {
        let descriptor = Int32(bitPattern: UInt32(truncatingIfNeeded: userData >> 32))
        guard let entry = entries[descriptor], entry.number == UInt32(truncatingIfNeeded: userData) else { return nil }
        return entry.handler
    }
}
