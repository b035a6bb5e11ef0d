import LinuxSystem
import ServiceWire
import Testing
import TransferModel
import TransferQueue

@testable import TransferService

/// Clients that ask for very much at once: they are told no, or get it in pieces between which others are served.
@Suite struct GreedyClientTests {
    private func refusal(_ body: () async throws -> Void) async throws -> RequestErrorCode {
        try await #require(throws: WireError.self) { try await body() }.requestError.code
    }

    // MARK: Views

    @Test func `a view of more rows than any screen has is refused, and so are many views of them`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        func wanted(_ sections: Int64, view: Int = 0) -> ViewRequest {
            ViewRequest(
                view: view,
                sections: (1...sections).map { SectionRequest(parent: .batch(BatchID(rawValue: $0)), limit: 1000) })
        }
        #expect(try await refusal { _ = try await client.call(Methods.viewSet, wanted(200)) } == .usage)
        for view in 0..<3 { _ = try await client.call(Methods.viewSet, wanted(10, view: view)) }
        var last: RequestErrorCode?
        for view in 3..<16 where last == nil {
            do { _ = try await client.call(Methods.viewSet, wanted(10, view: view)) } catch let error as WireError {
                last = error.requestError.code
            }
        }
        #expect(last == .refused)
        try await harness.end()
    }

    @Test func `a large view comes in pieces of a thousand rows, all of it`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let batches = [
            try await harness.add(900, name: "a"), try await harness.add(900, name: "b"),
            try await harness.add(900, name: "c"),
        ]
        let order = TreeOrder(.name)
        _ = try await client.call(
            Methods.viewSet,
            ViewRequest(
                sections: batches.map { SectionRequest(parent: .batch($0), limit: 1000, order: order) },
                nodes: batches.map { .batch($0) }, totals: true))
        var sizes: [RowID: Int] = [:]
        var pieces = 0
        while sizes.count < 3 {
            let change = try await client.notification(.viewChanged, ViewChange.self)
            pieces += 1
            #expect(change.sections.reduce(0) { $0 + $1.rows.count } <= 1000)
            for section in change.sections { if let parent = section.parent { sizes[parent] = section.rows.count } }
        }
        #expect(pieces >= 3 && sizes.values.allSatisfy { $0 >= 900 }, "\(pieces) \(sizes)")
        try await harness.end()
    }
}
