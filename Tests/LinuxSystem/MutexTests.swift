import Testing

@testable import LinuxSystem

@Suite("The lock")
struct MutexTests {
    private final class Counted: Sendable {
        static let left = Mutex(0)
        init() { Self.left.withLock { $0 += 1 } }
        deinit { Self.left.withLock { $0 -= 1 } }
    }

    private final class Owner: Sendable {
        let value: Mutex<[Counted]>
        init() { value = Mutex([Counted(), Counted()]) }
    }

    @Test("lets one thread in at a time")
    func oneAtATime() throws {
        final class Shared: Sendable { let numbers = Mutex<[Int]>([]) }
        let shared = Shared()
        let threads = try (0..<4).map { number in
            try Thread.start(name: "lock \(number)") {
                for step in 0..<1000 { shared.numbers.withLock { $0.append(step) } }
            }
        }
        for thread in threads { Thread.join(thread) }
        let numbers = shared.numbers.withLock { $0.sorted() }
        #expect(numbers == (0..<1000).flatMap { [$0, $0, $0, $0] })
    }

    @Test("passes on what its body throws, and is free again")
    func thrown() {
        struct Refused: Error {}
        let lock = Mutex(1)
        #expect(throws: Refused.self) { try lock.withLock { _ throws(Refused) in throw Refused() } }
        #expect(lock.withLock { $0 } == 1)
    }

    @Test("takes what it holds along when it goes")
    func released() {
        do {
            let owner = Owner()
            #expect(owner.value.withLock { $0.count } == 2)
            #expect(Counted.left.withLock { $0 } == 2)
        }
        #expect(Counted.left.withLock { $0 } == 0)
    }
}
