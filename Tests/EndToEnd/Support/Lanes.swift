import LinuxSystem

// End-to-end tests wait by blocking, and a blocked thread of the shared pool would hold up every other test of the run. So their
// suites live on threads of their own: one test at a time in each lane, a few lanes beside one another.

@globalActor actor FirstLane {
    static let shared = FirstLane()
    private nonisolated let lane = Lane("first lane")
    nonisolated var unownedExecutor: UnownedSerialExecutor { lane.executor }
}

@globalActor actor SecondLane {
    static let shared = SecondLane()
    private nonisolated let lane = Lane("second lane")
    nonisolated var unownedExecutor: UnownedSerialExecutor { lane.executor }
}

@globalActor actor ThirdLane {
    static let shared = ThirdLane()
    private nonisolated let lane = Lane("third lane")
    nonisolated var unownedExecutor: UnownedSerialExecutor { lane.executor }
}

@globalActor actor FourthLane {
    static let shared = FourthLane()
    private nonisolated let lane = Lane("fourth lane")
    nonisolated var unownedExecutor: UnownedSerialExecutor { lane.executor }
}

private struct Lane: Sendable {
    private let loop: EventLoop

    init(_ name: String) {
        // A machine that gives no thread to a test run has worse troubles.
        loop = try! EventLoop(name: name)
    }

    var executor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
}
