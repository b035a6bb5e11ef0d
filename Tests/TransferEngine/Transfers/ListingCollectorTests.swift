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
        let collector = ListingCollector(queue.reader, comparison: -1, mostIdleBytes: 1 << 20)
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
}
