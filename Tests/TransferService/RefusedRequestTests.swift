import FoundationEssentials
import ServiceWire
import Testing
import TransferEngine
import TransferModel
import TransferQueue

@testable import TransferService

@Suite("Requests that cannot be done are refused in words that name the cause and the cure")
struct RefusedRequestTests {
    private static let keys = #"{"accessKeyID":"a","secretAccessKey":"b"}"#

    /// Method, parameters, the words of the refusal.
    static let refusals: [(String, String, String)] = [
        ("batch.show", "{}", "batch.show: batch or uuid is missing"),
        (
            "batch.show", #"{"uuid":"8F14E45F-CEEA-467F-A9DA-5D6C0F0B1A2C"}"#,
            "no batch has the UUID 8f14e45f-ceea-467f-a9da-5d6c0f0b1a2c"
        ),
        ("batch.show", #"{"batch":"b99"}"#, "there is no batch b99: see 'martlet list'"),
        (
            "batch.add", #"{"uuid":"8F14E45F-CEEA-467F-A9DA-5D6C0F0B1A2C","work":{"download":[]}}"#,
            "the batch has no sources"
        ),
        (
            "batch.add",
            #"{"uuid":"8F14E45F-CEEA-467F-A9DA-5D6C0F0B1A2C","work":{"download":[{"url":"s3://b/k","directory":"/d"}]}}"#,
            "S3 wants keys: queue it by martlet upload, which finds AWS_ACCESS_KEY_ID or AWS_PROFILE"
        ),
        (
            "batch.add",
            #"{"uuid":"8F14E45F-CEEA-467F-A9DA-5D6C0F0B1A2C","work":{"upload":[],"to":"https://h/"},"#
                + #""secrets":{"headers":[{"name":"Range","value":"bytes=0-5"}]}}"#,
            "batch.add: Martlet writes the header field Range itself: leave it out, Martlet asks for the bytes that are missing"
        ),
        (
            "nodes.set",
            #"{"ids":["b1"],"settings":{},"secrets":{"headers":[{"name":"Expect","value":"100-continue"}]}}"#,
            "nodes.set: Martlet writes the header field Expect itself: leave it out, each request has its own"
        ),
        ("nodes.pause", "{}", "no node is named: give ids, rows or a selector"),
        ("nodes.move", #"{"to":"top"}"#, "no node is named: give ids, rows or a selector"),
        (
            "nodes.pause", #"{"ids":["b1"],"until":"2020-01-01T00:00:00.000Z"}"#,
            "until 2020-01-01T00:00:00.000Z is over already: give a time that is to come"
        ),
        (
            "nodes.move", #"{"ids":["b1"],"to":"before"}"#,
            "nodes.move: before is missing: give the node that the others go before"
        ),
        ("nodes.set", #"{"ids":["b1"],"settings":{}}"#, "nodes.set: nothing is to be changed"),
        ("nodes.set", #"{"ids":["b1"],"settings":{"limit":-1}}"#, "nodes.set: a rate is 0 to 2^53 bytes a second"),
        (
            "nodes.set", #"{"ids":["b1"],"settings":{"ifExists":"rename"}}"#,
            "ifExists rename is not built yet: use one of fail, skip, replace"
        ),
        ("nodes.verify", #"{"id":"b99"}"#, "there is no b99: 'martlet list' shows what there is"),
        (
            "nodes.readBack", #"{"id":"b99","run":"8F14E45F-CEEA-467F-A9DA-5D6C0F0B1A2C"}"#,
            "there is no b99: 'martlet list' shows what there is"
        ),
        ("tree.find", #"{"text":""}"#, "tree.find: the text is empty, and there is no row to find the way to"),
        (
            "view.set", #"{"sections":[{"limit":10}],"filter":"size>"}"#,
            "the filter is wrong at character 6: a number is missing"
        ),
        (
            "view.set", #"{"sections":[{"limit":10}],"filter":"@marked"}"#,
            "@marked is known to the screen alone: name what is meant"
        ),
        ("events.read", #"{"after":999}"#, "there is no event 999 yet, the last is 1: begin behind that one"),
        (
            "destination.keep", #"{"name":"nas","secrets":{}}"#,
            "there is nothing to keep for nas: give a password or keys"
        ),
        (
            "destination.keep", #"{"name":"nas","secrets":{"user":"ana","password":"x"},"url":"https://ana@h/"}"#,
            "there is no server that a login could be for: give a URL with a host and without user info"
        ),
        ("destination.test", #"{"url":"gopher://h/"}"#, "gopher: this scheme is not supported: use \(schemes())"),
        (
            "destination.test", #"{"url":"ftps://h/","destination":"nas"}"#,
            "no login is kept for the destination nas: give it again with martlet destination add nas URL --replace"
        ),
        (
            "destination.test", #"{"url":"ftps://h/","destination":"a; b"}"#,
            "no login is kept for the destination a; b: give it again with martlet destination add 'a; b' URL --replace"
        ),
        ("leftovers.search", #"{"url":"s3://b/p"}"#, "S3 wants keys: give them, or name a destination that has some"),
        (
            "limits.set", #"{"upTimetable":"tea time"}"#,
            "this is no timetable: give one such as \"08:00,512K 18:00,off\""
        ),
        ("limits.set", #"{"down":-1}"#, "limits.set: a rate is 0 to 2^53 bytes a second"),
        (
            "limits.set", #"{"scoped":[{"kind":"host","name":"https://nas/x","rate":1}]}"#,
            "this is no host: give it as in its URL, such as nas.example or nas.example:8443"
        ),
        (
            "limits.set", #"{"scoped":[{"kind":"session","name":"","rate":1}]}"#,
            "this is no session's name: give 1 to 200 bytes without control characters"
        ),
    ]

    static func schemes(_ isKnown: (TransferScheme) -> Bool = { _ in true }) -> String {
        TransferScheme.allCases.filter(isKnown).map(\.rawValue).joined(separator: ", ")
    }

    /// A batch's work, and the words of its refusal.
    private static let works: [(String, String)] = [
        (
            #"{"download":[{"url":"http://h/a","directory":"d"}]}"#,
            "directory is no absolute path: begin it with a slash"
        ),
        (
            #"{"download":[{"url":"http://h/a","directory":""}]}"#,
            "directory is no absolute path: begin it with a slash"
        ),
        (
            #"{"upload":[{"path":"a","placement":"exactly"}],"to":"http://h/a"}"#,
            "path is no absolute path: begin it with a slash"
        ),
        (
            #"{"download":[{"url":"http://h/a","directory":"/d","fileName":"b/a"}]}"#,
            "fileName is not one name: give it without a slash, and not . or .."
        ),
        (
            #"{"upload":[{"path":"/a","placement":{"named":".."}}],"to":"http://h/"}"#,
            "named is not one name: give it without a slash, and not . or .."
        ),
        (
            #"{"upload":[{"path":"/a","placement":{"named":""}}],"to":"http://h/"}"#,
            "named is not one name: give it without a slash, and not . or .."
        ),
        (
            #"{"upload":[{"path":"/a","placement":"contents"}],"to":"http://h/C#/"}"#,
            "to has a # in it, which ends an address: write %23 for a #"
        ),
    ]

    @Test("by the paths, names and place of a batch, of which nothing is queued")
    func works() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        for (work, said) in Self.works {
            let parameters = #"{"uuid":"8F14E45F-CEEA-467F-A9DA-5D6C0F0B1A2C","work":\#(work)}"#
            #expect(try await client.refusal("batch.add", parameters) == "batch.add: \(said)", "\(work)")
        }
        #expect(try await harness.queue.reader.batches().isEmpty)
        try await harness.end()
    }

    @Test("by their parameters")
    func parameters() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        for (method, parameters, said) in Self.refusals {
            let refusal = try await client.refusal(method, parameters)
            #expect(refusal == said, "\(method) \(parameters)")
        }
        try await harness.add(1)
        #expect(
            try await client.refusal("nodes.pause", #"{"selector":{"filter":"size>1","session":"default"}}"#)
                == "a filter and a session together are not understood: name the batch instead")
        try await harness.end()
    }

    @Test("by their number or their size")
    func bounds() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let sections = { (count: Int) in
            (0..<count).map { #"{"parent":"b\#($0 + 1)","limit":1000}"# }.joined(separator: ",")
        }
        #expect(
            try await client.refusal("view.set", #"{"sections":[\#(sections(201))]}"#)
                == "a view has up to 200 sections and 1000 nodes: ask for less")
        #expect(
            try await client.refusal("view.set", #"{"sections":[\#(sections(21))]}"#)
                == "a view has up to 20000 rows: ask for less")
        for view in 1...2 {
            #expect(try await client.refusal("view.set", #"{"view":\#(view),"sections":[\#(sections(19))]}"#) == "")
        }
        #expect(
            try await client.refusal("view.set", #"{"view":3,"sections":[\#(sections(19))]}"#)
                == "the views of a client have up to 40000 rows: close one")
        for view in 1...16 {
            #expect(try await client.refusal("view.set", #"{"view":\#(view),"sections":[{"limit":1}]}"#) == "")
        }
        #expect(
            try await client.refusal("view.set", #"{"view":17,"sections":[{"limit":1}]}"#)
                == "a client has up to 16 views with sections: close one")
        for view in 17...1000 {
            #expect(try await client.refusal("view.set", #"{"view":\#(view),"nodes":["b1"]}"#) == "")
        }
        #expect(
            try await client.refusal("view.set", #"{"view":1001,"nodes":["b1"]}"#)
                == "a client has up to 1000 views: close one")
        let names = (1...1001).map { "\"t\($0)\"" }.joined(separator: ",")
        #expect(
            try await client.refusal("nodes.move", #"{"ids":[\#(names)],"to":"top"}"#)
                == "nodes.move: up to 1000 nodes are moved at once: name fewer")
        let long = String(repeating: "x", count: 300 << 10)
        #expect(
            try await client.refusal("task.list", #"{"filter":"\#(long)"}"#)
                == "task.list: a request of it is no longer than 256 KiB")
        await harness.engine.place([
            FoundUpload(
                destination: String(repeating: "x", count: 17 << 20), key: RawPath("k"), uploadID: "u", begun: nil,
                task: nil)
        ])
        #expect(
            try await client.refusal("leftovers.search", #"{"url":"s3://b/p","keys":\#(Self.keys)}"#)
                == "the answer is longer than 16 MiB: ask for less at once")
        for _ in 0..<16 {
            _ = try await client.post(
                Methods.eventsRead, EventsReadRequest(after: EventSequence(rawValue: 1), wait: true))
        }
        #expect(
            try await client.refusal("events.read", #"{"wait":true}"#)
                == "16 requests of this client wait already: read their answers first")
        try await harness.end()
    }

    @Test("before the handshake")
    func early() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client(greets: false)
        #expect(try await client.refusal("totals", "{}") == "the first request of a connection is hello")
        try await harness.end()
    }
}

extension RawClient {
    /// The words with which a request is refused; empty: it is done.
    func refusal(_ method: String, _ parameters: String) async throws -> String {
        await send(#"{"jsonrpc":"2.0","id":77777,"method":"\#(method)","params":\#(parameters)}"#)
        while true {
            let line = try #require(await line())
            let head = try WireCoding.value(AnswerHead.self, from: line)
            if head.id == .number(77777) { return head.error?.message ?? "" }
        }
    }
}
