@testable import MartletKit
import Testing

@testable import TerminalUI

@Suite("A folder that is shown")
struct FolderViewTests {
    private func entry(_ name: String, _ kind: FolderEntry.Kind = .file, size: Int64 = 1) -> FolderEntry {
        FolderEntry(name: Array(name.utf8), kind: kind, size: size, modified: 0)
    }

    private func view(_ names: [String], complete: Bool = true) -> FolderView {
        var view = FolderView(Array("/home/ana".utf8))
        view.resize(height: 10)
        view.take(FolderSnapshot(names.map { entry($0) }, isComplete: complete))
        return view
    }

    private func name(_ view: FolderView) -> String? {
        view.cursorEntry.map { String(decoding: $0.name, as: UTF8.self) }
    }

    @Test("the cursor stays on its name while others come before it")
    func growing() {
        var view = view(["m", "n", "o"], complete: false)
        view.move(by: 1)
        #expect(name(view) == "n")
        view.take(FolderSnapshot(["a", "b", "c", "m", "n", "o"].map { entry($0) }, isComplete: true))
        #expect(name(view) == "n")
        #expect(view.window.contains(view.cursor))
    }

    @Test("the folder that was left is found as soon as it is read, unless the person moved meanwhile")
    func leaving() {
        var view = FolderView(Array("/home".utf8), from: Array("ana".utf8))
        view.resize(height: 5)
        view.take(FolderSnapshot([entry("b")], isComplete: false))
        view.take(FolderSnapshot([entry("ana", .folder), entry("b")], isComplete: true))
        #expect(name(view) == "ana")
        var moved = FolderView(Array("/home".utf8), from: Array("ana".utf8))
        moved.take(FolderSnapshot([entry("b"), entry("c")], isComplete: false))
        moved.move(by: 1)
        moved.take(FolderSnapshot([entry("ana", .folder), entry("b"), entry("c")], isComplete: true))
        #expect(name(moved) == "c")
    }

    @Test("a range begins at the name where it was begun, wherever that stands now")
    func range() {
        var view = view([".a", "b", "c", "d"])
        view.move(by: 1)
        view.beginRange()
        view.move(by: 1)
        #expect(view.range.map { $0.count } == 2)
        view.toggleHidden()
        #expect(view.range.map { $0.count } == 2 && name(view) == "d")
        view.take(FolderSnapshot(["b", "d"].map { entry($0) }, isComplete: true))
        #expect(view.range == nil)
    }

    @Test("hidden names come and go around the cursor")
    func hidden() {
        var view = view([".a", ".b", "c", "d"])
        #expect(view.count == 3)
        view.move(by: 1)
        view.toggleHidden()
        #expect(view.count == 5)
        #expect(name(view) == "d")
        view.toggleHidden()
        #expect(name(view) == "d")
    }

    @Test("what is typed is found from the cursor on; next and previous go around; Esc goes back")
    func finding() {
        var view = view(["img_1", "notes", "IMG_2", "Img_3"])
        view.move(to: 2)
        view.beginFind()
        view.find(Array("img".utf8))
        #expect(view.found == [1, 3, 4])
        #expect(name(view) == "IMG_2")
        view.findNext(1)
        view.findNext(1)
        #expect(name(view) == "img_1")
        view.findNext(-1)
        #expect(name(view) == "Img_3")
        view.find(Array("IMG".utf8))
        #expect(view.found == [3])
        view.endFind()
        #expect(name(view) == "notes")
        view.find(Array("zebra".utf8))
        #expect(view.found.isEmpty && name(view) == "notes")
    }

    @Test("a name that is not read yet is gone to when it comes, and to the first one in the end")
    func findingEarly() {
        var view = view(["m", "n"], complete: false)
        view.move(by: 1)
        view.beginFind()
        view.find(Array("z".utf8))
        #expect(view.found.isEmpty && name(view) == "n")
        view.take(FolderSnapshot(["a", "m", "n", "z9"].map { entry($0) }, isComplete: false))
        #expect(name(view) == "z9")
        view.take(FolderSnapshot(["a", "az", "m", "n", "z1", "z9"].map { entry($0) }, isComplete: true))
        // As if the folder had been read whole: the first one behind the row where the search began.
        #expect(name(view) == "z1")
        view.endFind()
        #expect(name(view) == "n")
    }

    @Test("who moves on while the folder is read is not called back")
    func findingAndMoving() {
        var view = view(["m", "n", "z5"], complete: false)
        view.beginFind()
        view.find(Array("z".utf8))
        #expect(name(view) == "z5")
        view.move(by: -1)
        view.take(FolderSnapshot(["m", "n", "z1", "z5"].map { entry($0) }, isComplete: true))
        #expect(name(view) == "n")
    }

    @Test("names are sorted as people read them, folders first, in both directions")
    func order() {
        let entries = [
            entry("b", size: 5), entry("B", size: 9), entry("a", size: 7), entry("z", .folder), entry("Y", .folder),
        ]
        func names(_ order: FolderOrder) -> String {
            entries.sorted(by: order.places).map { String(decoding: $0.name, as: UTF8.self) }.joined()
        }
        #expect(names(FolderOrder()) == "YzaBb")
        #expect(names(FolderOrder(.name, reversed: true)) == "zYbBa")
        #expect(names(FolderOrder(.size)) == "YzBab")
        #expect(names(FolderOrder(.size, reversed: true)) == "YzbaB")
    }

    @Test("a window of any height keeps the cursor in it")
    func windows() {
        var view = view((0..<50).map { "f\($0)" })
        for height in [1, 2, 7, 60] {
            view.resize(height: height)
            for step in [1, 30, -5, 100, -200, 49] {
                view.move(by: step)
                #expect(view.window.contains(view.cursor))
                view.page(by: step / 2)
                #expect(view.window.contains(view.cursor))
            }
        }
    }
}
