import CurlTransport
import WireOperations

/// Exchanges under way by the transports' names for them, and whose they are. A value of the engine.
struct ExchangeBook {
    /// Waits for the end of a request that belongs to no attempt.
    typealias Asker = CheckedContinuation<HTTPTransferEnd?, Never>

    private var attempts: [WireID: Attempt] = [:]
    private var askers: [WireID: Asker] = [:]
    private var last: UInt64 = 0

    /// A name that no exchange has had.
    mutating func newName() -> WireID {
        last += 1
        return WireID(rawValue: last)
    }

    /// The attempt that an exchange belongs to; `nil`: it was abandoned, or belongs to none.
    func attempt(of wire: WireID) -> Attempt? { attempts[wire] }

    mutating func begin(_ wire: WireID, of attempt: Attempt) { attempts[wire] = attempt }
    mutating func end(_ wire: WireID) { attempts[wire] = nil }

    mutating func begin(_ wire: WireID, for asker: Asker) { askers[wire] = asker }

    /// The one who waits for a request's end, for the last time.
    mutating func takeAsker(of wire: WireID) -> Asker? { askers.removeValue(forKey: wire) }

    /// All who wait for a request's end, for the last time.
    mutating func takeAskers() -> [Asker] {
        defer { askers = [:] }
        return Array(askers.values)
    }
}
