#if DEBUG
    import struct Synchronization.Atomic

    /// Makes the next calls of one kind fail, so that tests see a full disk or a dead one; or has somebody else act right before such a call.
    /// Absent from release builds.
    ///
    /// Tests run side by side in one process: name the descriptor or a part of the path, so that only the
    /// intended call is hit.
    package enum ForcedFailures {
        /// The calls of one kind that are made to fail.
        package enum Target: Sendable, Equatable {
            /// Calls on this descriptor.
            case descriptor(Int32)
            /// Calls whose path contains this text.
            case path(containing: String)
        }

        private enum Effect: Sendable {
            case fail(Errno)
            case act(@Sendable () -> Void)
        }

        private struct Plan {
            let call: SystemCall
            let target: Target
            let effect: Effect
            var skip: Int
            var left: Int
        }

        private static let plans = Mutex<[Plan]>([])
        /// The number of plans, readable without the lock: nearly every call finds none.
        private static let armed = Atomic<Int>(0)

        /// Lets `skip` matching calls through, then makes `times` fail with `error`.
        package static func fail(
            _ call: SystemCall, on target: Target, with error: Errno, times: Int = 1, skip: Int = 0
        ) {
            add(Plan(call: call, target: target, effect: .fail(error), skip: skip, left: times))
        }

        /// Lets `skip` matching calls through, and has `deed` done right before the next one: what another process may do at that moment.
        package static func act(
            before call: SystemCall, on target: Target, skip: Int = 0, _ deed: @escaping @Sendable () -> Void
        ) {
            add(Plan(call: call, target: target, effect: .act(deed), skip: skip, left: 1))
        }

        private static func add(_ plan: Plan) {
            plans.withLock { plans in
                plans.append(plan)
                armed.store(plans.count, ordering: .releasing)
            }
        }

        /// Drops what is left of the plans for a target; descriptor numbers come back, plans must not.
        package static func clear(_ target: Target) {
            plans.withLock { plans in
                plans.removeAll { $0.target == target }
                armed.store(plans.count, ordering: .releasing)
            }
        }

        static func take(_ call: SystemCall, descriptor: Int32, path: [UInt8]?) -> Errno? {
            if armed.load(ordering: .acquiring) == 0 { return nil }
            switch next(call, descriptor, path) {
            case .fail(let error): return error
            case .act(let deed):
                deed()
                return nil
            case nil: return nil
            }
        }

        private static func next(_ call: SystemCall, _ descriptor: Int32, _ path: [UInt8]?) -> Effect? {
            plans.withLock { plans in
                for index in plans.indices where plans[index].call == call {
                    switch plans[index].target {
                    case .descriptor(let wanted):
                        if wanted != descriptor { continue }
                    case .path(let part):
                        guard let path, String(decoding: path, as: UTF8.self).contains(part) else { continue }
                    }
                    if plans[index].skip > 0 {
                        plans[index].skip -= 1
                        return nil
                    }
                    let effect = plans[index].effect
                    plans[index].left -= 1
                    if plans[index].left == 0 { plans.remove(at: index) }
                    armed.store(plans.count, ordering: .releasing)
                    return effect
                }
                return nil
            }
        }
    }
#endif
