import LinuxSystem
import Testing

/// Threads for end-to-end tests, which wait by blocking: on the shared pool they would hold up every other test of the run.
///
/// Each lane does one test, or one case of it, after the other; who waits takes the first lane that is free. Most of a test is waiting, for
/// programs and servers, so there are more lanes than cores.
final class Lanes: TaskExecutor {
    static let shared = Lanes()
    // A machine that gives no thread to a test run has worse troubles.
    private let worker = try! BlockingWorker(name: "lane", threads: 8)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        worker.submit { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}

/// Runs each test of a suite in a lane.
struct InLane: TestTrait, SuiteTrait, TestScoping {
    var isRecursive: Bool { true }

    @concurrent func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(Lanes.shared) { try await function() }
    }
}

extension Trait where Self == InLane {
    static var inLane: InLane { InLane() }
}
