import Testing

@testable import UploadReceiver

/// The manual tells the limits that hold when nobody gives others.
@Suite struct ManualTests {
    /// Resources/man/martlet-receive.1, without the escapes of its format.
    private func manual() throws -> String {
        let root = "\(#filePath)".split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
        let text = String(decoding: try contents(Array("\(root)/Resources/man/martlet-receive.1".utf8)), as: UTF8.self)
        return text.replacing("\\", with: "")
    }

    @Test("the default limits stand in the manual as they are in the program")
    func limits() throws {
        let (text, limits) = (try manual(), ReceiverConfiguration.Limits())
        let connections =
            "\(limits.connections), of one address \(limits.connectionsPerAddress), and \(limits.unprovenConnections) on which"
        #expect(text.contains(connections))
        #expect(
            text.contains(
                "after \(limits.unprovenSilence) seconds before a request is let in, after \(limits.silence) later"))
        #expect(text.contains("default \(limits.keepFree >> 20)M"))
        #expect(text.contains("default \(limits.unfinishedLifetime / 86_400)d"))
        #expect(limits.completeLifetime == 86_400 && text.contains("are remembered, for a day at most"))
        func thousands(_ number: Int) -> String { "\(number / 1000),000" }
        #expect(text.contains("\(thousands(limits.unfinishedUploads)) unfinished ones"))
        #expect(text.contains("\(thousands(limits.rememberedUploads)) complete ones are remembered"))
        #expect(
            text.contains(
                "\(FileDigester.mostWants) requests wait for that, or more than \(FileDigester.mostBytes >> 30) GiB"))
    }
}
