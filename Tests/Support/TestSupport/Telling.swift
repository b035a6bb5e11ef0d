import LinuxSystem
package import Testing

/// A trait: a failure that the test comes to says these words to a person.
///
/// The words are compared with what `note` was given while the test ran, all its cases together. Helpers of a suite note each failure that
/// comes out of what they drive; a test does not note for itself.
package struct Telling: TestTrait, TestScoping {
    @TaskLocal private static var noted: Noted?
    private let parts: [String]

    fileprivate init(_ parts: [String]) { self.parts = parts }

    /// Notes the message of a failure for the test that runs.
    package static func note(_ message: String) {
        noted?.messages.withLock { _ = $0.insert(message) }
    }

    /// Once around all cases of the test.
    package func scopeProvider(for test: Test, testCase: Test.Case?) -> Telling? { testCase == nil ? self : nil }

    @concurrent package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let noted = Noted()
        try await Self.$noted.withValue(noted) { try await function() }
        let messages = noted.messages.withLock { $0 }
        for part in parts {
            #expect(
                messages.contains { $0.contains(part) }, "nothing says: \(part)",
                sourceLocation: test.sourceLocation)
        }
    }

    private final class Noted: Sendable {
        let messages = Mutex<Set<String>>([])
    }
}

extension Trait where Self == Telling {
    /// What a person reads of the failures that the test comes to; one trait for each test.
    package static func tells(_ parts: String...) -> Telling { Telling(parts) }
}
