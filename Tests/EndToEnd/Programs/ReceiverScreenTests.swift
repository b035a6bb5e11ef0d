import Testing
import TransferModel

/// `martlet receive` on a terminal: one line for each upload that is under way, redrawn in place.
@Suite(.inLane) struct ReceiverScreenTests {
    @Test(arguments: ["tus+", "ietf+", "--protocol put"])
    func `an upload has one line while it is under way, and another when it is there`(way: String) throws {
        let sandbox = try Sandbox()
        let folder = RawPath("\(sandbox.root)/received")
        makeFolder(folder)
        let screen = try TerminalScreen(
            sandbox, size: "70x8", "receive", folder.displayed, "--open", "--host", "127.0.0.1")
        try screen.awaitText("ready http://")
        let ready = try #require(try screen.text().split(separator: "\n").first { $0.hasPrefix("ready ") })
        let address = ready.split(separator: "/").dropFirst().first.map(String.init) ?? ""
        // It stands still in the middle, so that there is no hurry to look.
        let proxy = try FaultProxy(sandbox, target: address)
        try proxy.set("hold up 5M")
        // A name that would do something to a terminal, were it printed as it is.
        let source = RawPath(Array("\(sandbox.root)/film \u{1B}[31m.mov".utf8))
        try write(SeededBytes.stamped(10_000_000, seed: 1), to: source)
        let options = way.hasPrefix("--") ? way.split(separator: " ").map(String.init) : []
        let batch = try sandbox.queue(
            "upload", options + [source.text ?? "", "\(options.isEmpty ? way : "")http://\(proxy.address)/"],
            #_sourceLocation)
        try screen.awaitRow("film ", " %  ", " MB of 10.0 MB")
        // After a while without a byte no rate is told.
        try screen.awaitRow("film ", " MB of 10.0 MB  -")
        #expect(try screen.text().split(separator: "\n").count { $0.contains("film ") } == 1)
        try proxy.set()
        try sandbox.killEngine()
        #expect(try sandbox.wait(batch).status == 0)
        try screen.awaitRow("received film ", "10000000 bytes")
        #expect(!(try screen.text().contains("MB of")), "the line is gone")
        try screen.press("C-c")
        #expect(try screen.awaitEnd() == 0)
    }
}
