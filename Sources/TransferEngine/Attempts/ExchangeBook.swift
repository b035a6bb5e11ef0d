import CurlTransport

/// Exchanges under way by the transports' names for them, and whose they are. A value of the engine.
struct ExchangeBook {
    /// Waits for the end of a request that belongs to no attempt.
    typealias Asker = CheckedContinuation<CurlTransport.ExchangeEnd?, Never>

    private var attempts: [UInt64: Attempt] = [:]
    private var askers: [UInt64: Asker] = [:]
    private var last: UInt64 = 0

    /// A name that no exchange has had.
    mutating func newName() -> UInt64 {
        last += 1
        return last
    }

    /// The attempt that an exchange belongs to; `nil`: it was abandoned, or belongs to none.
    func attempt(of wire: UInt64) -> Attempt? { attempts[wire] }

    mutating func begin(_ wire: UInt64, of attempt: Attempt) { attempts[wire] = attempt }
    mutating func end(_ wire: UInt64) { attempts[wire] = nil }

    mutating func begin(_ wire: UInt64, for asker: Asker) { askers[wire] = asker }

    /// The one who waits for a request's end, for the last time.
    mutating func takeAsker(of wire: UInt64) -> Asker? { askers.removeValue(forKey: wire) }

    /// All who wait for a request's end, for the last time.
    mutating func takeAskers() -> [Asker] {
        defer { askers = [:] }
        return Array(askers.values)
    }
}
