import LinuxSystem
package import Testing

/// Waits for something that nothing announces. Only a hang reaches the end of its patience, and tells where; a test whose own limit is
/// reached sooner ends it, too.
package func until(
    _ condition: () async throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let end = MonotonicInstant.now.advanced(by: .seconds(100))
    while try await !condition() {
        try Task.checkCancellation()
        try #require(MonotonicInstant.now < end, "this never came true", sourceLocation: sourceLocation)
        await Task.yield()
    }
}
