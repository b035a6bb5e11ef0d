import FoundationEssentials
import Glibc
import LinuxSystem
import SQLiteConnection
import ServiceWire
import TestSupport
import Testing
import TransferModel
import TransferQueue

@testable import TransferService

extension TransferService {
    /// Bytes that clients have not taken, the most of one first.
    fileprivate var unread: [Int] { clients.values.map(\.unreadBytes).sorted(by: >) }
}

/// Clients that are out of their mind, or mean harm: they cost themselves their answer or connection, and nobody else anything.
@Suite struct HostileClientTests {
    private static let numbers = [
        "-9223372036854775808", "-9223372036854775807", "-1", "0", "9007199254740993", "9223372036854775806",
        "9223372036854775807", "18446744073709551616", "1e308", "-1e308", "0.5",
    ]

    /// Each method with a number; `N` stands for it.
    private static let requests = [
        ("log.read", #"{"after":N}"#), ("log.read", #"{"limit":N}"#),
        ("log.read", #"{"after":N,"limit":N,"task":"tN"}"#),
        ("events.read", #"{"after":N}"#), ("events.read", #"{"limit":N}"#), ("events.follow", #"{"after":N}"#),
        ("events.acknowledge", #"{"consumer":"c","through":N}"#), ("batch.list", #"{"limit":N}"#),
        ("batch.show", #"{"batch":"bN"}"#), ("batch.order", #"{"batch":"bN"}"#),
        ("task.list", #"{"after":"tN","limit":N}"#), ("task.list", #"{"filter":"size>N","after":"tN"}"#),
        ("task.show", #"{"task":"tN"}"#), ("why", #"{"id":"tN"}"#), ("nodes.pause", #"{"ids":["bN"]}"#),
        ("nodes.pause", #"{"ids":["b1"],"until":"9999-12-31T23:59:60.999Z"}"#), ("nodes.undo", #"{"operation":N}"#),
        ("nodes.move", #"{"ids":["tN"],"to":"before","before":"tN"}"#),
        ("nodes.set", #"{"ids":["b1"],"settings":{"limit":N}}"#),
        ("nodes.set", #"{"ids":["b1"],"settings":{"giveUpAfterSeconds":N}}"#),
        ("nodes.set", #"{"ids":["b1"],"settings":{"notBefore":"9999-12-31T23:59:59.999Z"}}"#),
        ("node.show", #"{"id":"tN"}"#), ("tree.read", #"{"limit":N}"#), ("tree.read", #"{"parent":"b1/fN","limit":N}"#),
        ("tree.find", #"{"text":"f","after":"bN/tN"}"#), ("view.set", #"{"view":N,"sections":[{"limit":N}]}"#),
        ("view.set", #"{"view":1,"sections":[{"parent":"bN","limit":N}],"filter":"age<Nd"}"#),
        ("limits.set", #"{"up":N}"#), ("limits.set", #"{"transfers":N}"#),
        ("limits.set", #"{"scoped":[{"kind":"host","name":"h","rate":N}]}"#),
        ("limits.set", #"{"upTimetable":"08:00,NK"}"#),
        ("leftovers.list", #"{"after":"tN","limit":N}"#), ("leftovers.abort", #"{"tasks":["tN"]}"#),
        ("throughput", #"{"batch":"bN"}"#),
        (
            "batch.add",
            #"{"uuid":"UUID","work":{"download":[{"url":"http://h/a","directory":"/d"}]},"options":{"giveUpAfterSeconds":N}}"#
        ),
        (
            "batch.add",
            #"{"uuid":"UUID","work":{"download":[{"url":"http://h/a","directory":"/d"}]},"options":{"bytesPerSecond":N,"chunkBytes":N}}"#
        ),
        (
            "batch.add",
            #"{"uuid":"UUID","work":{"download":[{"url":"http://h/a","directory":"/d"}]},"options":{"requestTimeoutSeconds":N,"umask":N}}"#
        ),
    ]

    @Test func `any number may be asked with: it is answered or refused, and the service lives`() async throws {
        let harness = try await ServiceHarness()
        try await harness.add(3)
        let client = try await harness.client()
        var id = 100
        for (method, parameters) in Self.requests {
            for number in Self.numbers {
                id += 1
                let filled = parameters.replacing("UUID", with: UUID().uuidString).replacing("N", with: number)
                await client.send(#"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(filled)}"#)
                // The answer, behind what followed and viewed things have to tell.
                var isAnswered = false
                while !isAnswered, let line = await client.line() {
                    isAnswered = try WireCoding.value(AnswerHead.self, from: line).id == .number(Int64(id))
                }
                #expect(isAnswered, "\(method) \(filled)")
            }
        }
        #expect(try await harness.queue.reader.check() == [])
        try await harness.end()
    }

    @Test(
        "a filter that is too much is refused, not overflowed with",
        arguments: [
            "/" + String(repeating: "a|", count: 300_000) + "a/", String(repeating: "a|", count: 20_000) + "a",
            String(repeating: "(", count: 300_000), String(repeating: "!", count: 300_000) + "a",
            "/" + String(repeating: "(", count: 100_000) + "/", "/" + String(repeating: "a{100}", count: 1000) + "/",
            String(repeating: "a ", count: 2_000_000),
        ])
    func filters(text: String) async throws {
        let harness = try await ServiceHarness()
        try await harness.add(1)
        let client = try await harness.client()
        let error = try await #require(throws: WireError.self) {
            try await client.call(Methods.taskList, TaskListRequest(filter: text))
        }
        #expect(error.requestError.code == .usage)
        #expect(error.requestError.message.utf8.count < 500)
        try await harness.end()
    }

    /// A batch with a text that is too long, and the word that its refusal names it by. `LONG` stands for 6 MB.
    private static let longTexts = [
        (#""name":"LONG","work":{"download":[{"url":"http://h/a","directory":"/d"}]}"#, "name"),
        (#""work":{"download":[{"url":"http://h/LONG","directory":"/d"}]}"#, "url"),
        (#""work":{"download":[{"url":"http://h/a","directory":"/LONG"}]}"#, "directory"),
        (#""work":{"download":[{"url":"http://h/a","directory":"/d","fileName":"LONG"}]}"#, "fileName"),
        (#""work":{"upload":[{"path":"/LONG","placement":"contents"}],"to":"http://h/"}"#, "path"),
        (#""work":{"upload":[{"path":"/a","placement":{"named":"LONG"}}],"to":"http://h/"}"#, "named"),
        (#""work":{"upload":[{"path":"/a","placement":"contents"}],"to":"http://h/LONG/"}"#, "to"),
    ]

    @Test("a text that comes back in rows has a length: a longer one is refused by name", arguments: longTexts)
    func longText(parameters: String, field: String) async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let filled = parameters.replacing("LONG", with: String(repeating: "x", count: 6_000_000))
        await client.send(
            #"{"jsonrpc":"2.0","id":7,"method":"batch.add","params":{"uuid":"\#(UUID().uuidString)",\#(filled)}}"#)
        let answer = try WireCoding.value(AnswerHead.self, from: try #require(await client.line()))
        #expect(answer.id == .number(7))
        #expect(answer.error?.requestError.code == .usage)
        let message = try #require(answer.error?.message)
        #expect(message.utf8.count < 300 && message.contains(field) && message.contains(" bytes"), "\(message)")
        #expect(try await harness.queue.reader.batches().isEmpty)
        try await harness.end()
    }

    @Test func `texts that an earlier version let in are shown cut, and nobody loses the connection`() async throws {
        let harness = try await ServiceHarness()
        let long = String(repeating: "ä", count: 3_000_000)
        for number in 0..<3 { try await harness.add(2, name: "batch\(number)") }
        let database = try SQLiteConnection(path: Array(harness.places.queueFile.utf8), access: .readWrite)
        try database.run("UPDATE batches SET name = ?1, destination = ?1", .text(long))
        try database.run("UPDATE tasks SET name = ?", .blob(Array(long.utf8)))
        let client = try await harness.client()
        let batches = try await client.call(Methods.batchList, BatchListRequest()).batches
        #expect(batches.count == 3 && batches.allSatisfy { $0.name.utf8.count <= 1000 && $0.name.hasPrefix("ää") })
        let tasks = try await client.call(Methods.taskList, TaskListRequest()).tasks
        #expect(tasks.count == 6)
        _ = try await client.call(
            Methods.viewSet,
            ViewRequest(
                sections: [SectionRequest(parent: nil, limit: 100, flat: true)],
                nodes: batches.map { .batch($0.id) } + tasks.map { .task($0.id) }))
        let change = try await client.notification(.viewChanged, ViewChange.self)
        #expect(change.sections.first?.rows.count == 6)
        _ = try await client.call(Methods.totals, Nothing())
        try await harness.end()
    }

    @Test func `servers are tested for few at a time, and for nobody who has gone`() async throws {
        let harness = try await ServiceHarness()
        await harness.engine.testForever()
        let request = DestinationTestRequest(url: "http://host/", options: nil, secrets: nil, destination: nil)
        var clients: [RawClient] = []
        for _ in 0..<2 {
            let client = try await harness.client()
            for _ in 0..<4 { _ = try await client.post(Methods.destinationTest, request) }
            clients.append(client)
        }
        try await until { await harness.engine.tests.count >= 8 }
        let other = try await harness.client()
        let error = try await #require(throws: WireError.self) {
            try await other.call(Methods.destinationTest, request)
        }
        #expect(await harness.engine.tests.count == 8)
        #expect(error.requestError.code == .refused && error.message.contains("8 other"), "\(error.message)")
        clients = []
        try await until { await harness.engine.endedTests >= 8 }
        await harness.engine.endTests()
        // They count until the service has heard of their end.
        var report: DestinationReport?
        while report == nil { report = try? await other.call(Methods.destinationTest, request).report }
        #expect(report?.ok == true)
        try await harness.end()
    }

    @Test func `clients that never read what they asked for cost little, and others are answered`() async throws {
        let harness = try await ServiceHarness()
        try await harness.add(1000)
        var silent: [RawClient] = []
        for _ in 0..<20 {
            let client = try await harness.client()
            try System.setNonBlocking(client.socket.rawValue)
            let line = Array(#"{"jsonrpc":"2.0","id":1,"method":"task.list","params":{"limit":1000}}"#.utf8) + [10]
            // Until the kernel takes no more.
            while let count = try? line.withUnsafeBytes({ try System.send(client.socket.rawValue, $0) }),
                count == line.count
            {}
            silent.append(client)
        }
        let other = try await harness.client()
        for _ in 0..<50 { _ = try await other.call(Methods.totals, Nothing()) }
        let unread = await harness.service.unread
        #expect(unread.allSatisfy { $0 < 2 << 20 }, "\(unread)")
        #expect(unread.reduce(0, +) < 30 << 20)
        silent = []
        try await harness.end()
    }

    @Test func `answers that nobody reads cost little together, and who reads gets long ones`() async throws {
        var settings = ServiceSettings(idleExit: nil)
        settings.longLinePatience = .milliseconds(50)
        let harness = try await ServiceHarness(settings: settings)
        try await harness.add(1)
        for _ in 0..<3000 { try await harness.add(1, name: String(repeating: "n", count: 900)) }
        let line = Array(#"{"jsonrpc":"2.0","id":1,"method":"batch.list","params":{"limit":10000}}"#.utf8) + [10]
        var silent: [RawClient] = []
        for _ in 0..<12 {
            let client = try await harness.client()
            await client.send(line)
            silent.append(client)
            // Its answer is made, or it waits.
            _ = try await harness.client().call(Methods.totals, Nothing())
            let unread = await harness.service.unread
            #expect(unread.reduce(0, +) < 26 << 20, "\(unread)")
        }
        let other = try await harness.client()
        #expect(try await other.call(Methods.batchList, BatchListRequest(limit: 10_000)).batches.count == 3001)
        silent = []
        try await harness.end()
    }

    @Test(
        "a control character in a user, a password or a header is refused by name, and the value is not shown",
        arguments: [
            #"{"user":"a\nQUIT"}"#, #"{"user":"ana","password":"X\r\nDELE x"}"#,
            #"{"headers":[{"name":"A","value":"b\nX-Evil: 1"}]}"#, #"{"headers":[{"name":"A\nB","value":"b"}]}"#,
            #"{"s3":{"accessKeyID":"a","secretAccessKey":"b\n"}}"#,
            #"{"proxies":{"http_proxy":"http://u:p%0d%0aX@proxy"}}"#,
        ])
    func controls(secrets: String) async throws {
        let harness = try await ServiceHarness()
        try await harness.add(1)
        let client = try await harness.client()
        let full = secrets.replacing("{\"user\"", with: "{\"headers\":[],\"formFields\":[],\"user\"")
        let calls = [
            (
                "batch.add",
                #"{"uuid":"\#(UUID().uuidString)","work":{"download":[{"url":"http://h/a","directory":"/d"}]},"secrets":S}"#
            ),
            ("nodes.set", #"{"ids":["b1"],"settings":{},"secrets":S}"#),
            ("destination.keep", #"{"name":"nas","secrets":S}"#),
            ("destination.test", #"{"url":"ftp://h/","secrets":S}"#),
        ]
        for (method, parameters) in calls {
            await client.send(
                #"{"jsonrpc":"2.0","id":7,"method":"\#(method)","params":\#(parameters.replacing("S}", with: full + "}"))}"#
            )
            let answer = String(decoding: try #require(await client.line()), as: UTF8.self)
            #expect(answer.contains("error"), "\(answer)")
            #expect(!answer.contains("DELE") && !answer.contains("QUIT"))
        }
        #expect(try await harness.queue.reader.batches().count == 1)
        try await harness.end()
    }
}
