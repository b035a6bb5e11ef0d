import Testing
import TransferModel

/// What only pays with a server far away.
@Suite(.inLane) struct FarServerTests {
    @Test(.enabled(if: WireProtocol.tested.contains(.tusToReceiver)))
    func `a large file goes to a far tus server in parts side by side, and no part stays there`() throws {
        let bench = try WireBench(.tusToReceiver)
        // Its first answer tells how far it is.
        try bench.proxy.set("delay 200ms")
        let source = try bench.makeFile("film.mov", 260 << 20)
        let batch = try bench.sandbox.queue(
            "upload", ["--if-exists", "replace", source.displayed, bench.destination], #_sourceLocation)
        let task = try bench.expectArrived(batch, source)
        #expect(task["restarts"].integer == 0 && task["bytesAccepted"].integer == 260 << 20, "\(task)")
        try bench.sandbox.killEngine()
        let parts = try bench.proxy.finalLog().compactMap { $0["up"].integer }.filter { $0 >= 60 << 20 }
        #expect(parts.count == 4, "\(parts)")
    }
}
