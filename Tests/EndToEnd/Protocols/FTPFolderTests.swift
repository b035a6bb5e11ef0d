import Testing
import TransferModel

/// FTP servers and their folders.
@Suite(.inLane) struct FTPFolderTests {
    @Test func `a folder that was tested is where an upload to it goes afterwards`() throws {
        let sandbox = try Sandbox()
        let server = try FTPServer(sandbox, .vsftpd)
        makeFolder(server.data.appending(RawPath("box")))
        try write("hello", to: "\(sandbox.root)/f")
        try sandbox.succeed("destination", "add", "box", server.url + "box/")
        try sandbox.succeed("destination", "test", "box")
        let batch = try sandbox.send("\(sandbox.root)/f", "box:")
        #expect(try sandbox.wait(batch).status == 0)
        #expect(names(in: server.data.appending(RawPath("box"))) == [RawPath("f")])
    }

    @Test func `files get there under their final names, and what could not be renamed or removed is told`() throws {
        let sandbox = try Sandbox()
        let server = try FTPServer(sandbox, .dropBox)
        let there = server.data
        func send(_ folder: String) throws {
            let source = RawPath(sandbox.root).appending(RawPath(folder))
            for number in 1...4 {
                let file = source.appending(RawPath("f\(number)"))
                try write(SeededBytes.bytes(10_000, seed: UInt64(number)), to: file)
            }
            let batch = try sandbox.send(source.displayed, server.url)
            #expect(try sandbox.wait(batch).status == 0)
            for number in 1...4 {
                let file = RawPath("\(folder)/f\(number)")
                #expect(
                    try readBytes(there.appending(file)) == readBytes(RawPath(sandbox.root).appending(file)))
            }
        }
        try send("first")
        let left = names(in: there.appending(RawPath("first"))).filter { $0.displayed.hasSuffix(".martlet-part") }
        #expect(left.count == 4)
        let told = try sandbox.succeed("leftovers", "list").output
        for number in 1...4 { #expect(told.contains("first/f\(number)"), "\(told)") }
        // It is known of the server by now: files go straight to their names.
        try send("second")
        #expect(names(in: there.appending(RawPath("second"))).count == 4)
    }
}
