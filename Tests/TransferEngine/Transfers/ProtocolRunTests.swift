import Testing
import TransferModel
import TransferProtocols
import WireOperations

@testable import TransferEngine

/// The actions of a machine, one after the other.
@Suite struct ProtocolRunTests {
    /// Answers each event with the next list.
    private struct ScriptedMachine: ProtocolMachine {
        var lists: [[ProtocolAction]]
        mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] { lists.removeFirst() }
    }

    private let request = ProtocolAction.perform(ExchangeID(rawValue: 1), .ftp(.size(RawPath("/f"))))
    private func point(_ etag: String) -> ResumePoint { ResumePoint(StoredVersion(stored: true, etag: etag)) }

    private func run(_ lists: [ProtocolAction]...) -> ProtocolRun {
        var run = ProtocolRun(ScriptedMachine(lists: lists))
        run.handle(.clockSetBack)
        return run
    }

    /// Takes the actions that can be taken now.
    private func taken(_ run: inout ProtocolRun) -> [ProtocolAction] {
        var taken: [ProtocolAction] = []
        while let action = run.next {
            run.takeNext()
            taken.append(action)
        }
        return taken
    }

    @Test("actions come in their order, and those of a later event after them")
    func order() {
        var run = run([.accepted(1), .accepted(2)], [.accepted(3)])
        run.takeNext()
        run.handle(.clockSetBack)
        let rest = taken(&run)
        #expect(rest == [.accepted(2), .accepted(3)] && !run.hasActions)
    }

    @Test("while something takes its time nothing is performed, and nothing is lost")
    func suspended() {
        var run = run([.accepted(1), .accepted(2)], [.accepted(3)])
        run.takeNext()
        run.suspend()
        run.handle(.clockSetBack)
        #expect(run.next == nil && run.hasActions && run.isSuspended)
        run.goOn()
        let rest = taken(&run)
        #expect(rest == [.accepted(2), .accepted(3)] && !run.isSuspended)
    }

    @Test("the point without an intent holds until the request of the intent begins")
    func unasked() {
        let actions = [.persist(point("with")), .compareSource(keeping: point("without")), request]
        var points: [ResumePoint?] = []
        for count in 0...3 {
            var run = run(actions)
            for _ in 0..<count { run.takeNext() }
            points += [run.takeUnasked(), run.takeUnasked()]
        }
        #expect(points == [nil, nil, point("without"), nil, point("without"), nil, nil, nil])
    }

    @Test("nothing of the first machine is performed when it is over or another one takes over")
    func another() {
        var run = run([.accepted(1)])
        run.begin(ScriptedMachine(lists: [[.accepted(2)]]))
        run.handle(.clockSetBack)
        #expect(run.next == .accepted(2))
        run.end()
        #expect(run.next == nil && !run.hasActions)
    }
}
