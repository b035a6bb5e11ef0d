import FoundationEssentials
import Testing
import TransferModel

@Suite struct IdentifierTests {
    @Test(arguments: [
        ("b7", NodeID.batch(BatchID(rawValue: 7))),
        ("t31", NodeID.task(TaskID(rawValue: 31))),
        ("b7:raw/2024", NodeID.folder(BatchID(rawValue: 7), path: RawPath("raw/2024"))),
        ("b7:raw/2024/", NodeID.folder(BatchID(rawValue: 7), path: RawPath("raw/2024"))),
        ("b7:a:b", NodeID.folder(BatchID(rawValue: 7), path: RawPath("a:b"))),
    ])
    func `an ID is read as a person types it`(text: String, id: NodeID) {
        #expect(NodeID(text) == id)
    }

    @Test(arguments: [
        "", "b", "7", "b0", "b-1", "b+1", "x7", "t31:raw", "b7:", "b7:/etc", "b99999999999999999999", "b7 ",
    ])
    func `anything else is not an ID`(text: String) {
        #expect(NodeID(text) == nil)
    }

    @Test func `an ID goes over the wire and back, also a folder that is not text`() throws {
        let ids: [NodeID] = [
            .batch(BatchID(rawValue: 1)), .task(TaskID(rawValue: 2)),
            .folder(BatchID(rawValue: 3), path: RawPath([0xFF, 0x2F, 0x41])),
        ]
        let back = try JSONDecoder().decode([NodeID].self, from: JSONEncoder().encode(ids))
        #expect(back == ids)
    }

    @Test(arguments: ["", "a\u{1B}b", "x\n", String(repeating: "x", count: 201)])
    func `a session's name is refused when it could harm a screen or is empty or too long`(name: String) {
        #expect(SessionName(rawValue: name) == nil)
    }
}
