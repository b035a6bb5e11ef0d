import Testing
import TransferModel

/// A line or a server that fails, by every protocol.
@Suite(.inLane) struct ProtocolFaultTests {
    @Test(arguments: WireProtocol.tested)
    func `a connection that is cut twenty times in a row does not stop a file`(wire: WireProtocol) throws {
        let bench = try WireBench(wire)
        let source = try bench.makeFile("film.mov", 30_000_000)
        try bench.proxy.set(wire.rule("rst up 1200k"))
        let batch = try bench.send(source.displayed)
        try bench.push(batch) { _ in
            try bench.proxy.log().count { $0["fault"].text?.hasPrefix("rst") == true } >= 20
        }
        try bench.proxy.set()
        try bench.push(batch) { $0["finishedAt"] != .null }
        let task = try bench.expectArrived(batch, source)
        if wire.resumes {
            #expect(task["restarts"].integer == 0, "\(task)")
            // Parts are sent again in the same attempt.
            if !wire.hasParts { #expect(!task["resumedFrom"].array.isEmpty, "\(task)") }
        }
    }

    // tuspyserver writes down how much it has when a request ends; killed before, it says 0 and then appends all of it once more.
    @Test(arguments: WireProtocol.tested.filter { $0 != .tus })
    func `a server that crashes twice, and loses its last second of data, gets the file`(wire: WireProtocol) throws {
        let bench = try WireBench(wire)
        let source = try bench.makeFile("film.mov", 60_000_000)
        // What is left when the server is ended takes some seconds more, and so is not there by chance.
        try bench.proxy.set(wire.rate(6))
        let batch = try bench.send(source.displayed)
        try bench.awaitStored(6_000_000, of: batch)
        try bench.far.crash()
        try waitUntil("\(batch) waits") { try bench.sandbox.task(batch)["state"].text == "waiting" }
        try bench.far.restart()
        try bench.push(batch) { $0["state"].text == "running" && ($0["bytesSent"].integer ?? 0) >= 20_000_000 }
        try bench.far.crash()
        let lost = try bench.far.loseLastBytes(2_000_000)
        // S3 says of a part that it has it when it is safe, and so does a server that takes chunks whole: the last second was on its way.
        if wire.resumes, ![.s3, .tusInChunks].contains(wire) { #expect(lost > 0, "there was something to lose") }
        try waitUntil("\(batch) waits again") { try bench.sandbox.task(batch)["state"].text == "waiting" }
        try bench.far.restart()
        try bench.proxy.set()
        try bench.push(batch) { $0["finishedAt"] != .null }
        let task = try bench.expectArrived(batch, source)
        #expect((task["attempts"].integer ?? 0) >= 3, "\(task)")
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
        let shares = size > 1 << 20 ? [20, 70, 95, 100] : [50, 95, 100]
        for (index, share) in shares.enumerated() {
            // The last: all but one byte.
            let place = share == 100 ? down - 1 : down * Int64(share) / 100
            try bench.proxy.set("cut down \(place) first=1")
            let source = try bench.makeFile("f-\(index).bin", size, seed: UInt64(index) + 100)
            let batch = try bench.send(source.displayed)
            try bench.push(batch) { $0["finishedAt"] != .null }
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
