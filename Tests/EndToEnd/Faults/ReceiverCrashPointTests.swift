import Glibc
import Testing
import TransferModel

/// `martlet receive` killed right after everything that it makes durable: debug builds do it themselves when `MARTLET_FAULT` names the step.
@Suite(.inLane) struct ReceiverCrashPointTests {
    /// As `MARTLET_FAULT` names them, and how often each is passed at least with one file of 20 MB.
    private static let steps: [(name: String, least: Int)] = [
        ("made", 1), ("synced", 2), ("publishing", 1), ("renamed", 1),
    ]

    @Test(arguments: WireProtocol.tested.filter { [.tusToReceiver, .ietf].contains($0) })
    func `what a killed receiver says it has is what it has, whatever it was doing`(wire: WireProtocol) throws {
        let bench = try WireBench(wire)
        guard case .receiver(let receiver) = bench.far else { return }
        let size: Int64 = 20_000_000
        try receiver.crash()
        var round = 0
        for step in Self.steps {
            // So often that every lasting order is seen; what goes on longer goes on alike.
            for number in 1...6 {
                round += 1
                try receiver.restart(fault: "receive.\(step.name):\(number)")
                let source = try bench.makeFile("film-\(round).mov", Int(size), seed: UInt64(round))
                let batch = try bench.send(source.displayed)
                try waitUntil("the receiver or \(batch) is over") {
                    try receiver.process.status != nil || bench.sandbox.batch(batch)["finishedAt"] != .null
                }
                let isReached = receiver.process.status == 128 + SIGKILL
                #expect(isReached || number > step.least, "\(step.name) was passed \(number - 1) times")
                if isReached { try receiver.restart() }
                try bench.push(batch) { $0["finishedAt"] != .null }
                let task = try bench.expectArrived(batch, source)
                // Before a client has heard where its upload is, there is none.
                if step.name != "made" { #expect(task["restarts"].integer == 0, "\(step) \(number): \(task)") }
                try receiver.crash()
                guard isReached else { break }
            }
        }
        // Nothing is sent that the receiver had said it has; of what it had not said, at most what was on its way.
        try receiver.restart()
        #expect(
            try digests(below: receiver.data).keys.allSatisfy {
                $0.displayed.hasPrefix("film-") || $0.displayed.hasPrefix(".")
            })
    }
}
