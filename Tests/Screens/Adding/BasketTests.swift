@testable import MartletKit
import Testing

@testable import TerminalUI

@Suite("What is chosen")
struct BasketTests {
    private func path(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("a folder takes over what was chosen inside it, and nothing inside it is chosen again")
    func folders() {
        var basket = Basket()
        basket.add(file: path("/a/b/one"), size: 10)
        basket.add(file: path("/a/bc"), size: 5)
        #expect(basket.countInside(path("/a")) == 2)
        #expect(basket.countInside(path("/a/b")) == 1)
        basket.add(folder: path("/a/b"))
        #expect(basket.paths.map { String(decoding: $0, as: UTF8.self) } == ["/a/bc", "/a/b"])
        #expect(basket.add(file: path("/a/b/c/d"), size: 1) == false)
        #expect(basket.enclosing(path("/a/b/c/d")) == path("/a/b"))
        #expect(basket.enclosing(path("/a/bc")) == nil)
        basket.add(folder: path("/"))
        #expect(basket.paths == [path("/")])
        #expect(basket.totals.folders == 1 && basket.totals.files == 0)
    }

    @Test("sums follow what is counted, and lose what is taken out")
    func totals() {
        var basket = Basket()
        basket.add(folder: path("/a"))
        basket.add(file: path("/b"), size: 7)
        #expect(basket.totals.line(Figures()) == "1 folder, 1 file = 1 file, 7B, counting")
        basket.take(FolderCount(files: 3, bytes: 100), of: path("/a"))
        var whole = FolderCount(files: 826, bytes: 1 << 30, isComplete: true)
        whole.unreadable = 2
        basket.take(whole, of: path("/a"))
        #expect(basket.totals.line(Figures()) == "1 folder, 1 file = 827 files, 1.0G")
        #expect(basket.totals.unreadable == 2)
        basket.take(FolderCount(files: 9), of: path("/nobody"))
        basket.remove([path("/a")])
        #expect(basket.totals.line(Figures()) == "1 file, 7B")
        basket.removeAll()
        #expect(basket.isEmpty && basket.totals == Basket.Totals() && basket.countInside(path("/")) == 0)
    }

    @Test("after any choosing the sums are those of what is there")
    func random() {
        var generator = SystemRandomNumberGenerator()
        let names = ["a", "b", "c"]
        var basket = Basket()
        var chosen: [[UInt8]] = []
        func isBelow(_ path: [UInt8], _ folder: [UInt8]) -> Bool { path.starts(with: folder + self.path("/")) }
        for _ in 0..<2000 {
            let parts = (0...Int.random(in: 0...3, using: &generator)).map { _ in names.randomElement()! }
            let path = path("/" + parts.joined(separator: "/"))
            switch Int.random(in: 0...3, using: &generator) {
            case 0: if basket.add(file: path, size: 3) { chosen.append(path) }
            case 1:
                guard basket.add(folder: path) else { continue }
                chosen.removeAll { isBelow($0, path) }
                chosen.append(path)
            case 2: basket.take(FolderCount(files: 2, bytes: 8, isComplete: true), of: path)
            default:
                basket.remove([path])
                chosen.removeAll { $0 == path }
            }
            #expect(basket.paths == chosen)
            #expect(basket.countInside(path) == chosen.count { isBelow($0, path) })
            let items = basket.first(.max)
            #expect(items.count == basket.count)
            #expect(basket.totals.files == items.reduce(0) { $0 + $1.count.files })
            #expect(basket.totals.uncounted == items.count { !$0.count.isComplete })
            for item in items { #expect(basket.enclosing(item.path) == nil) }
        }
        #expect(basket.countInside(path("/")) == basket.count)
    }

    @Test("folders of which some file was chosen take each other's place by thousands")
    func many() {
        var basket = Basket()
        let folders = (0..<20_000).map { path("/data/f\($0)") }
        for folder in folders { basket.add(file: folder + path("/one"), size: 1) }
        for folder in folders { basket.add(folder: folder) }
        #expect(basket.paths == folders && basket.totals.singleFiles == 0)
        for folder in folders.dropFirst() { basket.remove([folder]) }
        #expect(basket.paths == [folders[0]] && basket.countInside(path("/data")) == 1)
    }
}
