import MartletKit

/// The sections of the tree that the engine sends, and those it is asked for.
extension Tree {
    /// Returns true when as much of that section is here already.
    func holds(_ section: TreeSection) -> Bool {
        sections[section.parent].map { $0.rows.count >= min(section.rows.count, Int($0.total)) } ?? false
    }

    /// Takes over what the engine sent.
    mutating func take(_ update: [TreeSection]) {
        // What was on its way when the list became flat, or a tree again, is no answer any more.
        let update = update.filter { $0.parent == nil ? ($0.flat == true) == isFlat : !isFlat }
        if update.isEmpty { return }
        for section in update {
            place(section)
            for row in section.rows where marks[row.id] != nil { marks[row.id] = row }
            closeByItself(section)
            openByItself(section)
        }
        // A filter hides batches that are still there.
        if !opensAll, !isFlat, let root = update.first(where: { $0.parent == nil }),
            Int64(root.rows.count) == root.total
        {
            let batches = Set(root.rows.compactMap(\.id.batch))
            marks = marks.filter { batches.contains($0.key.batch ?? BatchID(rawValue: 0)) }
        }
        rebuild()
    }

    /// Opens what moves or needs a look when it is first seen; whatever a person folds stays as they want it.
    private mutating func openByItself(_ section: TreeSection) {
        for row in section.rows where !seen.contains(row.id) {
            let isFirst: Bool
            switch row.id {
            case .batch where opensAll, .folder where opensAll: isFirst = true
            case .batch:
                let isAtRest = row.state.isTerminal || row.state == .paused || row.state == .created
                isFirst = !isAtRest || row.state == .failed
            case .folder:
                isFirst = row.counts.active > 0 || row.hasProblem || section.total == 1 && !row.state.isTerminal
            case .task, .group: continue
            }
            seen.insert(row.id)
            guard isFirst, selfOpening > 0 else { continue }
            selfOpening -= 1
            open.insert(row.id)
            selfOpened.insert(row.id)
        }
    }

    /// Closes what was opened because it moved when all of it is done, unless somebody is in it.
    private mutating func closeByItself(_ section: TreeSection) {
        guard !selfOpened.isEmpty, !opensAll else { return }
        for row in section.rows where selfOpened.contains(row.id) && row.state == .completed && !row.scanning {
            guard cursorItem.map({ item in !ancestors(of: item).contains { $0.id == row.id } }) ?? true else {
                continue
            }
            selfOpened.remove(row.id)
            open.remove(row.id)
            selfOpening += 1
        }
    }

    /// The sections that the engine should tell of: those that reach into the window or near it.
    func wantedSections() -> [SectionRequest] {
        let near = (top - height)..<(top + 2 * height)
        if isFlat { return [request(nil)] }
        var wanted = [request(nil)]
        var openAbove: [(id: RowID, depth: Int, start: Int)] = []
        func close(_ depth: Int, _ end: Int) {
            while let last = openAbove.last, last.depth >= depth {
                openAbove.removeLast()
                if last.start < near.upperBound && end > near.lowerBound {
                    wanted.append(request(last.id))
                }
            }
        }
        for (index, item) in items.enumerated() {
            close(item.depth, index)
            if item.isOpen, case .row(let id) = item.id { openAbove.append((id, item.depth, index)) }
        }
        close(0, items.count)
        // A way is asked for as a whole.
        if going.row != nil {
            let known = Set(wanted.map(\.parent))
            wanted.insert(contentsOf: showing.keys.filter { !known.contains($0) }.map { request($0) }, at: 1)
        }
        // The engine refuses more; what is nearest to the root is needed for the rest.
        var rows = 0
        return Array(
            wanted.prefix(200).prefix { section in
                rows += section.limit
                return rows <= Self.mostRows
            })
    }

    private static var mostRows: Int { 20_000 }

    private func request(_ parent: RowID?) -> SectionRequest {
        SectionRequest(
            parent: parent, limit: limit(parent), order: order == TreeOrder() ? nil : order,
            flat: isFlat && parent == nil ? true : nil, showing: showing[parent])
    }

    private func limit(_ parent: RowID?) -> Int { min(1000, max(limits[parent] ?? 0, max(40, 2 * height))) }

    /// Asks for more of a section whose end comes near.
    mutating func ask() {
        for index in items.indices.clamped(to: top..<(top + 2 * height)) {
            guard case .more(let parent) = items[index].id, let section = sections[parent] else { continue }
            let limit = limit(parent)
            if section.rows.count >= limit - 1, limit < 1000 { limits[parent] = min(1000, 2 * limit) }
        }
    }
}
