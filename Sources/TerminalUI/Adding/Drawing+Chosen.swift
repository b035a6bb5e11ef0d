import DisplayText
import MartletKit
import Terminal

/// The parts beside and below the list: places to go to, and what is chosen so far.
extension Drawing {
    // MARK: Places

    mutating func places(_ picker: Picker, _ selected: Int, _ layout: PickerLayout) {
        if let row = layout.titles { grid.put("Places", row: row, column: 3, style: .title) }
        let all = picker.allPlaces
        let first = max(0, selected - layout.list.count + 1)
        for (y, index) in zip(layout.list, first..<max(first, all.count)) {
            let recent = index >= picker.places.all.count ? "used lately" : ""
            let text = tilde(all[index]).shortened(to: max(4, layout.listWidth - 18), mark: appearance.glyphs.cutMark)
            let end = grid.put(text, row: y, column: 3, end: layout.listWidth)
            grid.put(SafeText(recent), row: y, column: max(end + 2, 40), style: .dim, end: layout.listWidth)
            guard index == selected else { continue }
            grid.restyle(row: y, columns: 0..<layout.listWidth) { $0.isSelected = true }
            cursor = Cursor(row: y, column: min(3, width - 1))
        }
    }

    mutating func placesLine(_ picker: Picker, _ layout: PickerLayout) {
        guard let row = layout.places else { return }
        if case .places = picker.mode { return }
        var line: SafeText = "Places:"
        for path in picker.allPlaces {
            let longer = line + "  " + tilde(path)
            if longer.width > width - 2 { break }
            line = longer
        }
        grid.put(line, row: row, column: 1, style: .dim)
    }

    // MARK: What is chosen

    mutating func chosen(_ picker: Picker, _ layout: PickerLayout) {
        guard let row = layout.chosen else { return }
        grid.put(
            chosenText(picker).shortened(to: width - 2, mark: appearance.glyphs.cutMark), row: row, column: 1,
            style: .marked)
    }

    private func chosenText(_ picker: Picker) -> SafeText {
        guard picker.purpose == .sources else { return "Into: " + tilde(picker.target) }
        let totals = picker.basket.totals
        guard !picker.basket.isEmpty else { return "Chosen: nothing yet" }
        let unreadable = totals.unreadable > 0 ? " (\(Figures.count(totals.unreadable)) cannot be read)" : ""
        return "Chosen: \(totals.line(appearance.figures))\(unreadable)"
    }

    mutating func aside(_ picker: Picker, _ layout: PickerLayout) {
        let column = layout.aside.lowerBound + 1
        let end = layout.aside.upperBound - 1
        for row in layout.list.lowerBound - 2..<layout.list.upperBound { grid.put("|", row: row, column: column - 2) }
        var rows = (layout.list.lowerBound - 2)..<layout.list.upperBound
        func next() -> Int? { rows.popFirst() }
        func heading(_ text: SafeText) {
            if let row = next() { grid.put(text, row: row, column: column, style: .marked, end: end) }
        }
        heading(picker.purpose == .sources ? "Chosen" : "Into")
        if picker.purpose == .target {
            if let row = next() { grid.put(tilde(picker.target), row: row, column: column + 2, end: end) }
        } else if picker.basket.isEmpty, let row = next() {
            grid.put("nothing yet", row: row, column: column + 2, style: .dim, end: end)
        }
        // Half of the space: the places below it are always in sight.
        let hasUnsent = UnsentNames.are(in: picker, remainder: nil)
        let room = max(3, rows.count - picker.allPlaces.count - (hasUnsent ? 10 : 4))
        let items = picker.basket.first(room)
        for item in items { if let row = next() { draw(item, row, column + 2, end) } }
        let more = picker.basket.count - items.count
        if more > 0, let row = next() {
            grid.put(
                SafeText("and \(Figures.count(Int64(more))) more"), row: row, column: column + 2, style: .dim, end: end)
        }
        if hasUnsent, picker.purpose == .sources {
            _ = next()
            unsent(picker, rows: &rows, columns: column..<end)
        }
        _ = next()
        heading("Places")
        for path in picker.allPlaces {
            guard let row = next() else { break }
            grid.put(
                tilde(path).shortened(to: end - column - 2, mark: appearance.glyphs.cutMark), row: row,
                column: column + 2,
                end: end)
        }
    }

    private mutating func draw(_ item: Basket.Item, _ row: Int, _ column: Int, _ end: Int) {
        let figures = appearance.figures.size(item.count.bytes)
        let count = item.isFolder ? "\(Figures.shortCount(item.count.files)) files" : ""
        let right = SafeText(count).fitted(to: 13, .right) + SafeText(figures).fitted(to: 8, .right)
        let name = bytes(ShellWords.last(item.path)) + (item.isFolder ? "/" : "")
        let room = end - column - right.width - 1
        grid.put(name.shortened(to: room, mark: appearance.glyphs.cutMark), row: row, column: column, end: end)
        grid.put(right, row: row, column: end - right.width, style: item.count.isComplete ? .plain : .info)
    }
}
