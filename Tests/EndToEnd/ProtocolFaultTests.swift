import Testing
import TransferModel

/// A line or a server that fails, by every protocol.
@ThirdLane @Suite(.serialized) struct ProtocolFaultTests {
    /// Pushes a batch on whenever it waits for another try, until the condition holds.
    private func push(
        _ bench: WireBench, _ batch: String, until condition: (JSON) throws -> Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try waitUntil("\(batch) goes on", sourceLocation: sourceLocation) {
            let task = try bench.sandbox.task(batch)
            if try condition(task) { return true }
            // What is to be seen is where it goes on, not how long it waits before.
            if task["state"].text == "waiting" { try bench.sandbox.martlet("retry", batch) }
            return false
        }
    }

    @Test(arguments: WireProtocol.tested)
    func `a connection that is cut twenty times in a row does not stop a file`(wire: WireProtocol) throws {
        let bench = try WireBench(wire)
        let source = try bench.makeFile("film.mov", 30_000_000)
        try bench.proxy.set(wire.rule("rst up 1200k"))
        let batch = try bench.send(source.displayed)
        try push(bench, batch) { _ in
            try bench.proxy.log().count { $0["fault"].text?.hasPrefix("rst") == true } >= 20
        }
        try bench.proxy.set()
        try push(bench, batch) { $0["finishedAt"] != .null }
        let task = try bench.expectArrived(batch, source)
        if wire.resumes {
            #expect(task["restarts"].integer == 0, "\(task)")
            // S3 sends a part again in the same attempt.
            if wire != .s3 { #expect(!task["resumedFrom"].array.isEmpty, "\(task)") }
        }
    }

    // tuspyserver writes down how much it has when a request ends; killed before, it says 0 and then appends all of it once more.
    @Test(arguments: WireProtocol.tested.filter { $0 != .tus })
    func `a server that crashes in the middle and comes back gets the file`(wire: WireProtocol) throws {
        let bench = try WireBench(wire)
        let source = try bench.makeFile("film.mov", 60_000_000)
        try bench.proxy.set(wire.rule("rate up 15M"))
        let batch = try bench.send(source.displayed)
        try bench.awaitSent(20_000_000, of: batch)
        try bench.crashServer()
        try waitUntil("\(batch) waits") { try bench.sandbox.task(batch)["state"].text == "waiting" }
        try bench.restartServer()
        try bench.proxy.set()
        try push(bench, batch) { $0["finishedAt"] != .null }
        let task = try bench.expectArrived(batch, source)
        #expect((task["attempts"].integer ?? 0) >= 2, "\(task)")
        if wire.resumes { #expect(!task["resumedFrom"].array.isEmpty, "\(task)") }
    }

    /// One file of each kind: in one request, where there is such a thing, and in several.
    @Test(arguments: WireProtocol.tested, [40_000, 9_000_000])
    func `an answer that is lost leaves one file or an honest question`(wire: WireProtocol, size: Int) throws {
        let bench = try WireBench(wire)
        // A first file says how long the server's side of the conversation is.
        let calibration = try bench.makeFile("f-c.bin", size, seed: 99)
        let first = try bench.send(calibration.displayed)
        try bench.expectArrived(first, calibration)
        _ = try bench.bytesSentByWire()
        let down = try bench.proxy.log().compactMap { $0["down"].integer }.max() ?? 0
        try #require(down > 0)
        for (index, share) in [10, 40, 70, 85, 95, 99, 100].enumerated() {
            // The last: all but one byte.
            let place = share == 100 ? down - 1 : down * Int64(share) / 100
            try bench.proxy.set("cut down \(place) first=1")
            let source = try bench.makeFile("f-\(index).bin", size, seed: UInt64(index) + 100)
            let batch = try bench.send(source.displayed)
            try push(bench, batch) { $0["finishedAt"] != .null }
            let task = try bench.sandbox.task(batch)
            if task["state"].text == "failed", task["error"]["code"].text == "unknownOutcome" {
                // The file may be there, then it is this one.
                let there = try bench.arrived()[source.lastComponent]
                #expect(try there == nil || there == digest(of: source), "\(task)")
            } else {
                try bench.expectArrived(batch, source)
            }
            try bench.sandbox.killEngine()
        }
    }
}
