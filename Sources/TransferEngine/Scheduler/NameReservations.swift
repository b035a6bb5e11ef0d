import TransferModel
import TransferProtocols
import TransferQueue

/// Names that attempts of ours are giving files at servers that cannot refuse to replace one: one attempt after the other for each name.
///
/// Names are told apart as the most careless server would: without their case, and without what is no UTF-8. Two that only seem to be the
/// same lose nothing but a moment.
struct NameReservations {
    private struct Name: Hashable {
        var server: String
        var folded: String
    }

    private var names: [TaskID: Name] = [:]
    /// The tasks of each name, in order: the first one has it, the others wait for it.
    private var lines: [Name: [TaskID]] = [:]

    /// Returns false when the task has to wait until `release` names it.
    mutating func reserve(_ path: RawPath, at server: String, by task: TaskID) -> Bool {
        // A task has one name all its life.
        if let name = names[task] { return lines[name]?.first == task }
        let name = Name(server: server, folded: Self.folded(path))
        names[task] = name
        lines[name, default: []].append(task)
        return lines[name]?.first == task
    }

    /// The task's name is free. Returns who has it now, if that one has waited for it.
    mutating func release(_ task: TaskID) -> TaskID? {
        guard let name = names.removeValue(forKey: task) else { return nil }
        let hadIt = lines[name]?.first == task
        lines[name]?.removeAll { $0 == task }
        guard let next = lines[name]?.first else {
            lines[name] = nil
            return nil
        }
        return hadIt ? next : nil
    }

    static func folded(_ path: RawPath) -> String {
        // Up and down again: some letters meet in one of the two only.
        String(decoding: path.bytes, as: UTF8.self).uppercased().lowercased()
    }
}

extension TransferEngine {
    /// Suspends the attempt until no other one gives that name. A machine's action for it is `claimName`, on every protocol; a claim in the
    /// engine is a task's (`TaskClaim`).
    func reserveName(_ path: RawPath, for attempt: Attempt) {
        let server = attempt.place?.address.factsKey(attempt.origin) ?? attempt.origin
        if !nameReservations.reserve(path, at: server, by: attempt.task.id) { attempt.run.suspend() }
    }

    /// The attempt is over: whoever waits for its name goes on.
    func releaseName(of attempt: Attempt) {
        guard attempts[attempt.task.id] == nil || attempts[attempt.task.id] === attempt else { return }
        guard let next = nameReservations.release(attempt.task.id).flatMap({ attempts[$0] }) else { return }
        inBackground { [self] in
            next.run.goOn()
            perform(next)
        }
    }
}
