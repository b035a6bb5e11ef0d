import DisplayText
@testable import MartletKit
import TestSupport
import Testing

@testable import TerminalUI

/// A queue that answers what the tree asks for.
private struct InventedQueue {
    /// Rows by what they lie under, in the queue's order.
    var rows: [RowID?: [NodeRow]] = [:]
    private var last: Int64 = 0

    init(_ dice: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 1...4, using: &dice) { add(under: nil, &dice) }
        for _ in 0..<30 { grow(&dice) }
    }

    private var nodes: [RowID?] {
        rows.values.flatMap { $0 }.map(\.id).filter { if case .task = $0 { false } else { true } } + [nil]
    }

    mutating func grow(_ dice: inout SeededGenerator) {
        // Sorted, so that a seed always gives the same.
        add(under: nodes.sorted { "\($0 as Any)" < "\($1 as Any)" }.randomElement(using: &dice) ?? nil, &dice)
    }

    private mutating func add(under parent: RowID?, _ dice: inout SeededGenerator) {
        last += 1
        let state = TransferState.allCases.randomElement(using: &dice) ?? .queued
        let total = Int64.random(in: 0...9, using: &dice)
        let row: NodeRow =
            switch parent {
            case nil: Rows.batch(last, "b\(last)", state, { $0[state] = 1 }, total: total)
            case .some(let id) where Bool.random(using: &dice):
                Rows.folder(id.batch.rawValue, last, "f\(last)", state, { $0[state] = 1 }, total: total)
            case .some(let id): Rows.task(id.batch.rawValue, last, "t\(last)", state, total: total)
            }
        let place = Int.random(in: 0...(rows[parent]?.count ?? 0), using: &dice)
        rows[parent, default: []].insert(row, at: place)
    }

    /// A batch never goes, so that marks have something to stand on.
    mutating func remove(_ dice: inout SeededGenerator) {
        let parents = rows.keys.filter { $0 != nil && rows[$0]?.isEmpty == false }.sorted {
            "\($0 as Any)" < "\($1 as Any)"
        }
        guard let parent = parents.randomElement(using: &dice), let count = rows[parent]?.count else { return }
        let gone = rows[parent]?.remove(at: Int.random(in: 0..<count, using: &dice))
        var below = [gone?.id].compactMap(\.self)
        while let next = below.popLast() { below += (rows.removeValue(forKey: next) ?? []).map(\.id) }
    }

    mutating func shuffle(_ dice: inout SeededGenerator) {
        for parent in rows.keys.sorted(by: { "\($0 as Any)" < "\($1 as Any)" }) { rows[parent]?.shuffle(using: &dice) }
    }

    var tasks: [NodeRow] {
        rows.values.flatMap { $0 }.filter { if case .task = $0.id { true } else { false } }
            .sorted { "\($0.id)" < "\($1.id)" }
    }

    func way(to row: RowID) -> [RowID] {
        guard let parent = rows.first(where: { $0.value.contains { $0.id == row } })?.key else { return [row] }
        return way(to: parent) + [row]
    }

    func answer(_ requests: [SectionRequest]) -> [TreeSection] {
        requests.map { request in
            var all = request.flat == true ? tasks : rows[request.parent] ?? []
            if let order = request.order {
                all = all.enumerated().sorted { one, other in
                    let isBefore =
                        order.by == .size
                        ? (-one.element.bytes.total, one.offset) < (-other.element.bytes.total, other.offset)
                        : (one.element.name, one.offset) < (other.element.name, other.offset)
                    return isBefore != order.reversed
                }.map(\.element)
            }
            var shown = Array(all.prefix(request.limit))
            if let extra = all.first(where: { $0.id == request.showing }), !shown.contains(extra) {
                shown.append(extra)
            }
            var section = TreeSection(parent: request.parent, rows: shown, total: Int64(all.count))
            (section.order, section.flat) = (request.order, request.flat)
            return section
        }
    }
}

@Suite("The tree after whatever was done to it, by chance")
struct TreePropertyTests {
    /// What is wrong with a tree; `nil`: nothing.
    private func fault(_ tree: Tree) -> String? {
        let ids = tree.items.map(\.id)
        if Set(ids).count != ids.count { return "a row stands there twice" }
        if tree.items.isEmpty { return tree.cursor == nil ? nil : "a cursor on nothing" }
        guard let cursor = tree.cursorIndex else { return "the cursor is on no line" }
        if !tree.window.contains(cursor) { return "the cursor is outside of the window" }
        if tree.top < 0 || tree.top > max(0, tree.items.count - 1) { return "the window is outside" }
        for (index, item) in tree.items.enumerated() {
            if tree.index(of: item.id) != index { return "a row that is looked for elsewhere than it stands" }
            guard let parent = item.parent else {
                if item.depth != 0 { return "a root that is indented" }
                continue
            }
            guard let above = tree.index(of: .row(parent)), above < index else {
                return "a row without what it lies under"
            }
            if tree.items[above].depth != item.depth - 1 { return "a row at a wrong depth" }
            if !tree.items[above].isOpen { return "a row under a closed one" }
        }
        return nil
    }

    /// Whether rows of one section stand as the engine has them.
    private func isInOrder(_ tree: Tree, _ queue: InventedQueue) -> Bool {
        for section in queue.answer(tree.wantedSections()) {
            let shown = tree.items.filter { $0.parent == section.parent && $0.row != nil }.compactMap(\.row?.id)
            if !shown.isEmpty, shown != section.rows.map(\.id) { return false }
        }
        return true
    }

    /// Asks and answers until nothing new is asked for.
    private func settle(_ tree: inout Tree, _ queue: InventedQueue) {
        var before: [SectionRequest] = []
        for _ in 0..<40 where tree.wantedSections() != before {
            before = tree.wantedSections()
            tree.take(queue.answer(before))
        }
    }

    private func act(_ tree: inout Tree, _ queue: inout InventedQueue, _ dice: inout SeededGenerator) {
        switch Int.random(in: 0..<16, using: &dice) {
        case 0, 1: tree.move(by: .random(in: -5...5, using: &dice))
        case 2: tree.page(by: .random(in: -9...9, using: &dice))
        case 3, 4:
            if let row = tree.cursorRow, tree.cursorItem?.canOpen == true {
                tree.setOpen(row.id, !(tree.cursorItem?.isOpen ?? false))
            }
        case 5: if let row = tree.cursorRow { tree.toggleAll(under: row.id) }
        case 6: tree.toggleMark()
        case 7: tree.resize(height: .random(in: 1...20, using: &dice))
        case 8: queue.grow(&dice)
        case 9: queue.remove(&dice)
        case 10: queue.shuffle(&dice)
        case 11:
            let by: TreeOrder.Key = Bool.random(using: &dice) ? .name : .size
            tree.sort(by: TreeOrder(by, reversed: Bool.random(using: &dice)))
        case 12: tree.sort(by: TreeOrder())
        case 13: tree.turn(flat: !tree.isFlat)
        case 14: tree.keepsPlaces.toggle()
        default:
            if let row = queue.tasks.randomElement(using: &dice) {
                tree.reveal(tree.isFlat ? [row.id] : queue.way(to: row.id))
            }
        }
    }

    @Test("no row twice, each under what it lies in, the cursor on a row in the window, marks kept")
    func operations() async {
        for seed in 0..<25 as Range<UInt64> {
            await Task.yield()
            var dice = SeededGenerator(seed: seed)
            var queue = InventedQueue(&dice)
            var tree = Tree()
            tree.resize(height: 9)
            settle(&tree, queue)
            for step in 0..<60 {
                let marked = Set(tree.marks.keys)
                let isMarking = tree.cursorRow?.id
                act(&tree, &queue, &dice)
                #expect(marked.symmetricDifference(tree.marks.keys).isSubset(of: [isMarking].compactMap(\.self)))
                settle(&tree, queue)
                if let fault = fault(tree) { Issue.record("seed \(seed), step \(step): \(fault)") }
            }
            tree.keepsPlaces = false
            tree.catchUp()
            settle(&tree, queue)
            #expect(isInOrder(tree, queue), "seed \(seed)")
        }
    }

    @Test("the cursor stays on its row as long as that is there, whatever comes, goes and is sorted around it")
    func cursor() async {
        for seed in 0..<25 as Range<UInt64> {
            await Task.yield()
            var dice = SeededGenerator(seed: seed)
            var queue = InventedQueue(&dice)
            var tree = Tree()
            tree.resize(height: .random(in: 1...20, using: &dice))
            settle(&tree, queue)
            for _ in 0..<20 {
                tree.move(by: .random(in: -9...9, using: &dice))
                let row = tree.cursorRow?.id
                for _ in 0..<Int.random(in: 1...3, using: &dice) {
                    switch Int.random(in: 0..<4, using: &dice) {
                    case 0: queue.grow(&dice)
                    case 1: queue.remove(&dice)
                    case 2: queue.shuffle(&dice)
                    default: tree.sort(by: TreeOrder(.size, reversed: Bool.random(using: &dice)))
                    }
                }
                settle(&tree, queue)
                guard let row, tree.index(of: .row(row)) != nil else { continue }
                #expect(tree.cursorRow?.id == row, "seed \(seed)")
            }
        }
    }

    @Test("every row of the queue can be gone to, and folding and unfolding shows what was shown before")
    func reachable() async {
        for seed in 0..<12 as Range<UInt64> {
            await Task.yield()
            var dice = SeededGenerator(seed: seed)
            let queue = InventedQueue(&dice)
            var tree = Tree()
            tree.resize(height: .random(in: 1...20, using: &dice))
            settle(&tree, queue)
            for row in queue.tasks {
                tree.reveal(queue.way(to: row.id))
                settle(&tree, queue)
                #expect(tree.cursorRow?.id == row.id, "seed \(seed)")
            }
            // What opened by itself may close by itself.
            tree.selfOpened = []
            // What is far away is not asked for.
            tree.resize(height: 200)
            settle(&tree, queue)
            let items = tree.items
            guard let batch = tree.items.first(where: { $0.depth == 0 && $0.isOpen })?.row?.id else { continue }
            tree.setOpen(batch, false)
            settle(&tree, queue)
            tree.setOpen(batch, true)
            settle(&tree, queue)
            #expect(tree.items == items, "seed \(seed)")
        }
    }
}
