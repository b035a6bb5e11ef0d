import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferProtocols
import TransferQueue

@testable import TransferEngine

@Suite struct ListingCollectorTests {
    private let queue: TransferQueue

    init() throws {
        queue = try TransferQueue.open(directory: RawPath(Sandbox("listing").path("state")), version: "test")
    }

    /// How many times a server can send that before it is not listened to any more; at most 1,000.
    private func rounds(_ text: String, isPage: Bool = false) throws -> Int {
        let collector = ListingCollector(queue.reader, comparison: -1, mostIdleBytes: 1 << 20) { _ in }
        collector.beginReading(.machineLines)
        for round in 0..<1000 {
            if isPage { collector.beginReading(.bucket(prefix: RawPath("p/"))) }
            do {
                try Array(text.utf8).withUnsafeBytes { try collector.write($0) }
            } catch {
                #expect(error as? Errno == .fileTooLarge && collector.isTooLong)
                return round
            }
        }
        return 1000
    }

    @Test("a list that goes on and on without a name ends, and one of many names does not")
    func endless() throws {
        let idle = String(repeating: "type=cdir; .\r\n", count: 1000)
        #expect((50..<100).contains(try rounds(idle)))
        let names = (0..<100).map { "type=file;size=1; \($0)\r\n" }.joined()
        #expect(try rounds(names) == 1000)
    }

    @Test("pages that lead nowhere end, too")
    func pages() throws {
        let page = """
            <ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>
            <Contents><Key>other</Key><Size>1</Size></Contents></ListBucketResult>
            """
        #expect((10..<20).contains(try rounds(page, isPage: true)))
    }

    @Test("digests that a server tells count as what is kept of it, and of each kind one is kept")
    func digests() throws {
        let told = (0..<100).map { TransferDigest(algorithm: $0 % 2 == 0 ? "md5" : "sha-1", value: "\($0)") }
        var entry = RemoteEntry(RawPath("a"), size: .bytes(1), digests: told)
        #expect(entry.digests.map(\.value) == ["0", "1"] && entry.foreignBytes == 3)
        entry.digests = told
        #expect(entry.digests.map(\.value) == ["0", "1"])
    }

    private func entries(_ names: some Sequence<String>) -> [RemoteEntry] {
        names.map { RemoteEntry(RawPath($0), size: .bytes(1)) }
    }

    @Test("while more than a page is not in the comparison it is full, and says when there is room again")
    func full() async throws {
        let comparison = try await queue.reader.beginComparison(of: FolderID(rawValue: 1))
        var begun = 0
        let collector = ListingCollector(queue.reader, comparison: comparison) { _ in begun += 1 }
        collector.beginReading(.machineLines)
        let lines = (0..<2500).map { "type=file;size=1; n\($0)\r\n" }.joined()
        try Array(lines.utf8).withUnsafeBytes { try collector.write($0) }
        #expect(collector.isFull && begun == 1)
        var calls = 0
        collector.whenRoom { calls += 1 }
        await collector.give()
        #expect(!collector.isFull && calls == 1)
        #expect(await collector.settled())
        #expect(try await queue.reader.add(entries(["n0", "n2499", "new"]), to: comparison) == 1)
    }

    @Test("an answer that the protocol has read costs something, and only new names pay for it")
    func answers() async throws {
        func rounds(_ name: (Int) -> String) async throws -> Int {
            let comparison = try await queue.reader.beginComparison(of: FolderID(rawValue: 1))
            let collector = ListingCollector(queue.reader, comparison: comparison, mostIdleBytes: 1 << 20) { _ in }
            for round in 0..<1000 {
                collector.add(answer: entries([name(round)]))
                if collector.isTooLong { return round }
                await collector.give()
            }
            return 1000
        }
        #expect((100..<200).contains(try await rounds { _ in "x" }))
        #expect(try await rounds { "x\($0)" } == 1000)
    }

    @Test("names of a list have a bound all together, beside their number")
    func longNames() async throws {
        let comparison = try await queue.reader.beginComparison(of: FolderID(rawValue: 1))
        let collector = ListingCollector(queue.reader, comparison: comparison, mostKeptBytes: 1 << 20) { _ in }
        var count = 0
        while !collector.isTooLong {
            collector.add(answer: entries([String(repeating: "n", count: 1000) + "\(count)"]))
            await collector.give()
            count += 1
        }
        #expect((1000..<1100).contains(count))
    }
}
