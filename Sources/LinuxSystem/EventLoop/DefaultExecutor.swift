import CSwiftJobs

/// The executor of jobs that belong to no actor: Swift's default executor, or threads of this program's own.
///
/// Swift's is libdispatch, whose pool looks after its threads once a second from the first job on, for as long as the process lives: a
/// screen that shows nothing new and an engine with nothing to do would never rest.
package enum DefaultExecutor {
    /// Set once, by a program before its first task; with it no thread ends any more.
    private static let threads = try? BlockingWorker(name: "tasks", threads: 2)

    /// Gives them to two threads, which wake for nothing else. For the beginning of a program, before its first `await`; a library
    /// leaves the choice to the program. Where the threads cannot be had all stays as it is.
    package static func useOwnThreads() {
        guard threads != nil else { return }
        CSwiftJobs_replaceDefaultExecutor { job in
            // The runtime hands over a job each time.
            guard let job else { return }
            let address = UInt(bitPattern: job)
            DefaultExecutor.threads?.submit { CSwiftJobs_run(UnsafeMutableRawPointer(bitPattern: address)) }
        }
    }

    /// A body to be called once, on any thread.
    package typealias Job = @Sendable () -> Void

    private static let taker = Mutex<(@Sendable (@escaping Job) -> Void)?>(nil)

    /// Gives each of them to `take`, for a program that decides itself when each runs. Another call takes the place of the one before.
    package static func give(to take: @escaping @Sendable (@escaping Job) -> Void) {
        taker.withLock { $0 = take }
        CSwiftJobs_replaceDefaultExecutor { job in
            // The runtime hands over a job each time.
            guard let job else { return }
            let address = UInt(bitPattern: job)
            let take = DefaultExecutor.taker.withLock { $0 }
            take?({ CSwiftJobs_run(UnsafeMutableRawPointer(bitPattern: address)) })
        }
    }
}
