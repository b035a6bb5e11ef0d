import Testing
import TransferModel
import WireOperations

@testable import TransferProtocols

@Suite struct MissingFoldersTests {
    private let forbidden = ProtocolAction.fail(.cutOff(by: "h"))
    private var folders = MissingFolders(above: HTTPAddress("http://h/a/b/c/f")!)

    private mutating func answer(_ status: Int, at place: Int) -> MissingFolders.Next {
        _ = folders.make(place)
        return folders.answered(HTTPAnswer(status: status), at: place, refusal: forbidden)
    }

    @Test("folders are asked for outwards until one can be made, then inwards")
    mutating func climb() {
        #expect(folders.canBegin)
        #expect(answer(409, at: 0) == .make(1))
        #expect(!folders.canBegin)
        #expect(answer(404, at: 1) == .make(2))
        #expect(answer(201, at: 2) == .make(1))
        #expect(answer(405, at: 1) == .make(0))
        #expect(answer(301, at: 0) == .areThere)
        #expect(folders.refusal == nil)
    }

    @Test("a refused folder may be there by another file's doing; refused twice it is not made")
    mutating func refused() {
        #expect(answer(403, at: 1) == .make(0))
        #expect(folders.refusal == forbidden)
        #expect(answer(403, at: 1) == .refused)
    }

    @Test("a server that misses a parent each time is not asked for ever")
    mutating func endless() {
        var asked = 0
        var next = MissingFolders.Next.make(0)
        while case .make(let place) = next, asked < 100 {
            asked += 1
            next = answer(place == 2 ? 201 : 409, at: place)
        }
        #expect(next == .refused)
        #expect(asked == 8)
    }

    @Test("nothing is asked for above the root")
    func root() {
        #expect(!MissingFolders(above: HTTPAddress("http://h/f")!).canBegin)
    }
}
