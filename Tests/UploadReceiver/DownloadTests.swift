import Digests
import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import UploadReceiver

@Suite("Downloads from a running receiver")
struct DownloadTests {
    private let sandbox: ReceiverSandbox
    private let client: RawClient
    private let body = pattern(100_000)
    private let tag: String
    private let date: String

    init() throws {
        sandbox = try ReceiverSandbox()
        client = try sandbox.client()
        let reply = try client.exchange("PUT", "/f", body: body)
        (tag, date) = (reply.fields["etag"] ?? "", reply.fields["last-modified"] ?? "")
    }

    @Test("a digest beside a file that others can write to is not believed", arguments: [UInt32(0o666), 0o664, 0o646])
    func forgedDigest(mode: UInt32) throws {
        let wanted: KeyValuePairs = ["Want-Repr-Digest": "sha-256=9"]
        let digest = try #require(try client.exchange("HEAD", "/f", wanted).fields["repr-digest"])
        let file = try System.open(sandbox.path("f"), flags: O_RDWR)
        let forged = "\(tag.dropFirst().dropLast()) \(String(repeating: "a", count: 64))"
        try System.setAttribute("user.martlet.sha-256", of: file.rawValue, to: Array(forged.utf8))
        #expect(try client.exchange("HEAD", "/f").fields["repr-digest"] != nil)
        try System.chmod(sandbox.path("f"), mode: mode)
        #expect(try client.exchange("HEAD", "/f").fields["repr-digest"] == nil)
        #expect(try client.exchange("HEAD", "/f", wanted).fields["repr-digest"] == digest)
    }

    @Test("a range is sent alone and says where it belongs")
    func range() throws {
        let middle = try client.exchange("GET", "/f", ["Range": "bytes=1000-1999"])
        #expect(middle.status == 206)
        #expect(middle.fields["content-range"] == "bytes 1000-1999/100000")
        #expect(middle.body == Array(body[1000..<2000]))
        #expect(middle.fields["etag"] == tag)
        let rest = try client.exchange("GET", "/f", ["Range": "bytes=99990-"])
        #expect(rest.body == Array(body[99_990...]))
        let end = try client.exchange("GET", "/f", ["Range": "bytes=-5"])
        #expect(end.fields["content-range"] == "bytes 99995-99999/100000")
        #expect(end.body == Array(body[99_995...]))
        #expect(try sandbox.line(beginning: "sent").hasPrefix("sent f bytes 1000-1999 of 100000 in"))
    }

    @Test("a range past the end is 416 with the size; several ranges get the whole")
    func otherRanges() throws {
        let past = try client.exchange("GET", "/f", ["Range": "bytes=100000-"])
        #expect(past.status == 416)
        #expect(past.fields["content-range"] == "bytes */100000")
        #expect(past.fields["etag"] == tag)
        let several = try client.exchange("GET", "/f", ["Range": "bytes=0-1,5-6"])
        #expect(several.status == 200)
        #expect(several.body == body)
    }

    @Test("If-Range goes on only in the same version")
    func ifRange() throws {
        func status(_ condition: String) throws -> Int {
            try client.exchange("GET", "/f", ["Range": "bytes=5-", "If-Range": condition]).status
        }
        #expect(try status(tag) == 206)
        #expect(try status(date) == 206)
        #expect(try status("\"other\"") == 200)
        #expect(try status("W/" + tag) == 200)
        #expect(try status("Sun, 06 Nov 1994 08:49:37 GMT") == 200)
        #expect(try client.exchange("PUT", "/f", body: pattern(100_000, seed: 2)).status == 204)
        let changed = try client.exchange("GET", "/f", ["Range": "bytes=5-", "If-Range": tag])
        #expect(changed.status == 200)
        #expect(changed.body == pattern(100_000, seed: 2))
    }

    @Test("HEAD says what GET would, without the body")
    func head() throws {
        let reply = try client.exchange("HEAD", "/f", ["Range": "bytes=1-2"])
        #expect(reply.status == 200)
        #expect(reply.fields["content-length"] == "100000")
        #expect(reply.fields["etag"] == tag)
        #expect(reply.fields["accept-ranges"] == "bytes")
        #expect(try client.exchange("HEAD", "/none").status == 404)
        #expect(try client.exchange("GET", "/f").body == body)
    }

    @Test("who wants a file's SHA-256 is told it, also of a file that came without one")
    func digest() throws {
        let claimed = DigestFields.field(DigestAlgorithm.sha256.digest(of: body))
        let wish: KeyValuePairs = ["Want-Repr-Digest": "sha-256=10"]
        let asked = try client.exchange("HEAD", "/f", wish)
        #expect(asked.status == 200)
        #expect(asked.fields["repr-digest"] == claimed)
        #expect(asked.fields["content-length"] == "100000")
        #expect(asked.fields["etag"] == tag)
        #expect(try client.exchange("GET", "/f", wish).fields["repr-digest"] == claimed)
        #expect(try client.exchange("HEAD", "/f").fields["repr-digest"] == nil)
        #expect(try client.exchange("HEAD", "/none", wish).status == 404)
        // A file that somebody else put there, and one that changes: never an old version's digest.
        try write(pattern(5), to: sandbox.path("g"))
        let first = DigestFields.field(DigestAlgorithm.sha256.digest(of: pattern(5)))
        #expect(try client.exchange("HEAD", "/g", wish).fields["repr-digest"] == first)
        try write(pattern(5, seed: 2), to: sandbox.path("g"))
        let second = DigestFields.field(DigestAlgorithm.sha256.digest(of: pattern(5, seed: 2)))
        #expect(try client.exchange("HEAD", "/g", wish).fields["repr-digest"] == second)
        for time in [Int64.max, .max - 2_000_000_000, .min, .min + 2_000_000_000] {
            let file = try System.open(sandbox.path("g"), flags: O_WRONLY)
            try System.setModificationTime(file.rawValue, nanoseconds: time)
            #expect(try client.exchange("HEAD", "/g", wish).fields["repr-digest"] == second, "\(time)")
        }
    }

    /// A file of so many zeros, none of them on the disk.
    private func hole(_ name: String, of size: Int64) throws -> [UInt8] {
        let path = sandbox.path(name)
        let file = try System.open(path, flags: O_WRONLY | O_CREAT | O_TRUNC)
        try System.ftruncate(file.rawValue, to: size)
        return path
    }

    @Test("a file whose digest nobody would live to see is given out without one")
    func endlessDigest() throws {
        _ = try hole("endless", of: 8 << 40)
        let asked = try client.exchange("HEAD", "/endless", ["Want-Repr-Digest": "sha-256=10"])
        #expect(asked.status == 200 && asked.fields["repr-digest"] == nil)
    }

    @Test("who asks for digests by the hundred and hangs up keeps nobody out: beyond a number the answer has none")
    func manyDigests() throws {
        let large = try hole("large", of: 64 << 30)
        let ask = RawClient.head("HEAD", "/large", ["Want-Repr-Digest": "sha-256=10"])
        var waiting: [RawClient] = []
        // One after the other: of many that it has not read yet the receiver closes the oldest.
        for number in 1...128 {
            let client = try sandbox.client()
            try client.send(ask)
            waiting.append(client)
            while try timesOpenHere(large) < number { sched_yield() }
        }
        let late = try sandbox.client()
        try late.send(ask)
        let reply = try late.reply(toHead: true)
        #expect(reply.status == 200 && reply.fields["repr-digest"] == nil)
        waiting.removeAll()
        // What would stand in line behind so much is too late for whoever asks.
        try write(pattern(5), to: sandbox.path("g"))
        let small = try client.exchange("GET", "/g", ["Want-Repr-Digest": "sha-256=10"])
        #expect(small.body == pattern(5) && small.fields["repr-digest"] == nil)
        sandbox.stop()
    }

    /// Does nothing before it is told.
    private final class HeldWorker: Worker {
        private let bodies = Mutex<[@Sendable () -> Void]>([])
        /// Number of requests that were told of an end.
        let told = Mutex(0)

        func submit(_ body: @escaping @Sendable () -> Void) { bodies.withLock { $0.append(body) } }
        func stop() {
            for body in bodies.withLock({ $0 }) { body() }
        }
    }

    @Test("who asks for the same version of a file while it is digested shares its digest")
    func sharedDigest() throws {
        let worker = HeldWorker()
        let digester = FileDigester(on: worker)
        func submit() throws -> Digesting? {
            let file = try System.open(sandbox.path("g"))
            let open = OpenFile(descriptor: file, facts: FileFacts(try System.fstat(file.rawValue)))
            return digester.submit(open) { worker.told.withLock { $0 += 1 } }
        }
        try write(pattern(5), to: sandbox.path("g"))
        let one = try #require(try submit())
        #expect(try submit() === one)
        try write(pattern(6), to: sandbox.path("g"))
        let other = try #require(try submit())
        #expect(other !== one)
        worker.stop()
        #expect(worker.told.withLock { $0 } == 3)
        #expect(other.result == DigestAlgorithm.sha256.digest(of: pattern(6)) && one.result == nil)
        // Nothing of them stands in line any more.
        #expect(try submit() !== other)
    }

    @Test("while a large file is digested the receiver goes on with others, and can end")
    func digestBesideOthers() throws {
        let large = try hole("large", of: 64 << 30)
        let waiting = try sandbox.client()
        try waiting.send(RawClient.head("HEAD", "/large", ["Want-Repr-Digest": "sha-256=10"]))
        repeat { #expect(try client.exchange("GET", "/f").body == body) } while try !isOpenHere(large)
        // What was asked is answered without the digest.
        sandbox.stop()
        #expect(try waiting.reply(toHead: true).fields["repr-digest"] == nil)
    }

    /// Returns true when this process has the file open.
    private func isOpenHere(_ path: [UInt8]) throws -> Bool { try timesOpenHere(path) > 0 }

    private func timesOpenHere(_ path: [UInt8]) throws -> Int {
        let reader = try DirectoryReader(path: Array("/proc/self/fd".utf8))
        var times = 0
        while let entry = try reader.next() {
            var target = [CChar](repeating: 0, count: 4096)
            let link = (Array("/proc/self/fd/".utf8) + entry.name).map { CChar(bitPattern: $0) } + [0]
            let count = readlink(link, &target, target.count)
            if count > 0, target[..<count].map({ UInt8(bitPattern: $0) }) == path { times += 1 }
        }
        return times
    }

    @Test("a version that the client has is not sent again")
    func notModified() throws {
        let reply = try client.exchange("GET", "/f", ["If-None-Match": tag])
        #expect(reply.status == 304)
        #expect(reply.fields["etag"] == tag)
        #expect(reply.fields["content-length"] == "100000")
        #expect(try client.exchange("GET", "/f", ["If-Modified-Since": date]).status == 304)
        #expect(try client.exchange("GET", "/f", ["If-Match": "\"other\""]).status == 412)
        #expect(try client.exchange("GET", "/f").status == 200)
    }

    @Test("a reader of the old version gets it whole while a new one is published")
    func replacedWhileRead() throws {
        let large = pattern(20 << 20)
        #expect(try client.exchange("PUT", "/large", body: large).status == 201)
        let reader = try sandbox.client()
        try reader.send(RawClient.head("GET", "/large"))
        try reader.awaitBeginning()
        // The socket's buffers hold less than the file, so the rest is still to be sent when it is replaced.
        #expect(try client.exchange("PUT", "/large", body: [1]).status == 204)
        #expect(try reader.reply().body == large)
        #expect(try client.exchange("GET", "/large").body == [1])
    }

    @Test("a folder is a list of names, one a line, without our own folder")
    func listing() throws {
        #expect(try client.exchange("PUT", "/b%20c/%ff", body: [1]).status == 201)
        #expect(try client.exchange("GET", "/").text == "b%20c/\nf\n")
        #expect(try client.exchange("GET", "/b%20c/").text == "%FF\n")
        #expect(try client.exchange("GET", "/b%20c").text == "%FF\n")
        #expect(try client.exchange("GET", "/none/").status == 404)
        #expect(try client.exchange("GET", "/f/").status == 409)
        #expect(try client.exchange("GET", "/.martlet-incoming/").status == 403)
    }

    @Test("many requests go over one connection")
    func keepAlive() throws {
        for _ in 0..<50 {
            #expect(try client.exchange("GET", "/f", ["Range": "bytes=0-9"]).body == Array(body[..<10]))
            #expect(try client.exchange("GET", "/none").status == 404)
            #expect(try client.exchange("PUT", "/g", body: [1]).status >= 201)
        }
    }
}
