import DisplayText
import MartletKit
import Terminal

/// The entries of a folder: what they are, whether they are chosen, and what is to be said of them.
extension Drawing {
    mutating func pickerRows(_ picker: Picker, _ layout: PickerLayout) {
        let folder = picker.folder
        cursor = Cursor(row: layout.list.lowerBound, column: min(3, width - 1))
        for (y, index) in zip(layout.list, folder.window) {
            guard let row = folder[index] else { continue }
            switch row {
            case .parent: grid.put("../", row: y, column: layout.name.lowerBound, end: layout.listWidth)
            case .entry(let entry): draw(entry, picker, y, layout)
            }
            if let range = folder.range, range.contains(index) { grid.put(":", row: y, column: 1) }
            guard index == folder.cursor else { continue }
            grid.restyle(row: y, columns: 0..<layout.listWidth) { $0.isSelected = true }
            cursor = Cursor(row: y, column: min(width - 1, layout.name.lowerBound))
        }
        let y = layout.list.lowerBound + folder.window.count
        if layout.list.contains(y), let text = emptiness(folder) {
            grid.put(text.text.beginning(of: layout.listWidth - 4), row: y, column: 3, style: text.style)
        }
    }

    private func emptiness(_ folder: FolderView) -> (text: SafeText, style: Style)? {
        if let problem = folder.problem { return ("It cannot be read: \(appearance.safe(problem)).", .error) }
        guard folder.shownEntries.isEmpty else { return folder.isComplete ? nil : ("reading on ...", .dim) }
        guard folder.isComplete else { return ("reading ...", .dim) }
        if folder.all == 0 { return ("Nothing is in this folder.", .dim) }
        let key = model.keys.keys(for: .hidden, in: .picker).first?.name ?? ""
        return ("\(Figures.amount(Int64(folder.all), "hidden name")): \(key) shows them.", .dim)
    }

    private mutating func draw(_ entry: FolderEntry, _ picker: Picker, _ y: Int, _ layout: PickerLayout) {
        let path = picker.folder.path(of: entry)
        let chosen = picker.basket[path]
        let isInside = chosen == nil && picker.basket.enclosing(path) != nil
        let isCounting = chosen.map { !$0.count.isComplete } ?? false
        let isUsable = entry.isReadable && (picker.purpose == .sources ? entry.kind != .other : entry.kind == .folder)
        let style: Style = chosen != nil || isInside ? .marked : isUsable ? .plain : .dim
        if isCounting {
            grid.put("~", row: y, column: 0, style: .info)
        } else if chosen != nil || isInside {
            grid.put("*", row: y, column: 0, style: .marked)
        }
        let name = bytes(entry.name)
        let room = layout.name.count - (entry.kind == .folder ? 1 : 0)
        let shown = name.shortened(to: room, mark: appearance.glyphs.cutMark) + (entry.kind == .folder ? "/" : "")
        grid.put(shown, row: y, column: layout.name.lowerBound, style: style, end: layout.name.upperBound)
        func put(_ text: String, _ cells: Range<Int>?, _ alignment: Alignment, _ style: Style) {
            guard let cells else { return }
            grid.put(SafeText(text).fitted(to: cells.count, alignment), row: y, column: cells.lowerBound, style: style)
        }
        let size: String =
            switch entry.kind {
            case .folder: chosen.map { appearance.figures.size($0.count.bytes) } ?? ""
            default: entry.size.map { appearance.figures.size($0) } ?? ""
            }
        put(size, layout.size, .right, style)
        put(
            entry.modified.map { String(appearance.date(Timestamp(seconds: $0)).prefix(10)) } ?? "",
            layout.modified, .left, style)
        let note = note(entry, chosen, inside: picker.basket.countInside(path))
        put(note.text, layout.items, .right, note.isProblem ? .warn : style)
    }

    /// The text of the last column: an amount, or a problem.
    private func note(_ entry: FolderEntry, _ chosen: Basket.Item?, inside: Int) -> (text: String, isProblem: Bool) {
        if let chosen, chosen.isFolder {
            return chosen.count.isComplete
                ? (Figures.shortCount(chosen.count.files), false) : ("counting", false)
        }
        if inside > 0 { return ("\(Figures.shortCount(Int64(inside))) in it", false) }
        if !entry.isReadable { return ("no read", true) }
        if entry.kind == .other { return ("special", true) }
        if SafeText(entry.name).string.utf8.elementsEqual(entry.name) == false { return ("escaped", false) }
        return (entry.isLink ? "link" : "", false)
    }
}
