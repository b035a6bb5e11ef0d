import DisplayText
import MartletKit
import Terminal

/// The first step: a folder, what is chosen, and where else to look.
extension Drawing {
    mutating func adding(_ flow: AddFlow) {
        switch (flow.step, flow.kind) {
        case _ where flow.isPicking: picker(flow)
        case (.first, _): links(flow)
        case (.second, _): destination(flow)
        case (.third, _): review(flow)
        }
    }

    /// ` Add files   [1 Pick]   2 Destination   3 Review`
    mutating func steps(_ flow: AddFlow) {
        let names = flow.stepNames.enumerated().map { index, name in
            index == flow.step.rawValue ? "[\(index + 1) \(name)]" : " \(index + 1) \(name) "
        }
        let title: SafeText = flow.kind == .upload ? "Add files" : "Download"
        let short = "step \(flow.step.rawValue + 1) of \(names.count): \(flow.stepNames[flow.step.rawValue])"
        let long = names.joined(separator: "  ")
        self.title(title, SafeText(title.width + long.count + 4 > width ? short : long))
    }

    private mutating func picker(_ flow: AddFlow) {
        let layout = PickerLayout(model.size)
        let picker = flow.picker
        if layout.title != nil { steps(flow) }
        pickerPath(picker, layout)
        if case .places(let row) = picker.mode {
            places(picker, row, layout)
        } else {
            pickerTitles(picker, layout)
            pickerRows(picker, layout)
        }
        if !layout.aside.isEmpty { aside(picker, layout) }
        placesLine(picker, layout)
        chosen(picker, layout)
        pickerHints(picker, layout)
        // Last, because the cursor may have to stand in it.
        pickerLine(picker, layout)
    }

    // MARK: Above the list

    private mutating func pickerPath(_ picker: Picker, _ layout: PickerLayout) {
        guard let row = layout.path else { return }
        let order = picker.folder.order
        let sorted = "sort \(order.key.rawValue)\(order.isReversed ? ", reversed" : "")"
        let right = SafeText("hidden \(picker.folder.showsHidden ? "on" : "off")   \(sorted)")
        let room = layout.listWidth - right.width - 4
        let path = tilde(picker.folder.path)
        grid.put(path.shortened(to: max(8, room), mark: look.glyphs.cutMark), row: row, column: 1, style: .marked)
        if room >= 8 { grid.put(right, row: row, column: layout.listWidth - 1 - right.width, style: .dim) }
    }

    /// A path with `~` for the home folder.
    func tilde(_ path: [UInt8]) -> SafeText {
        let home = model.shellWords.home
        guard home.count > 1, path.starts(with: home), path.count == home.count || path[home.count] == 0x2F else {
            return bytes(path)
        }
        return "~" + bytes(Array(path.dropFirst(home.count)))
    }

    /// Bytes of this machine's names, made harmless and drawable here.
    func bytes(_ bytes: [UInt8]) -> SafeText { SafeText(bytes, characterSet: look.characterSet) }

    private mutating func pickerTitles(_ picker: Picker, _ layout: PickerLayout) {
        guard let row = layout.titles else { return }
        func put(_ text: SafeText, _ cells: Range<Int>?, _ alignment: Alignment, _ key: FolderOrder.Key?) {
            guard let cells else { return }
            let style = Style(.title, strong: key == picker.folder.order.key)
            grid.put(text.fitted(to: cells.count, alignment), row: row, column: cells.lowerBound, style: style)
        }
        put("Name", layout.name, .left, .name)
        put("Size", layout.size, .right, .size)
        put("Modified", layout.modified, .left, .modified)
        put(picker.purpose == .sources ? "Items" : "", layout.items, .right, nil)
    }

    // MARK: The list

    private mutating func pickerRows(_ picker: Picker, _ layout: PickerLayout) {
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
        if let problem = folder.problem { return ("It cannot be read: \(look.safe(problem)).", .error) }
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
        let shown = name.shortened(to: room, mark: look.glyphs.cutMark) + (entry.kind == .folder ? "/" : "")
        grid.put(shown, row: y, column: layout.name.lowerBound, style: style, end: layout.name.upperBound)
        func put(_ text: String, _ cells: Range<Int>?, _ alignment: Alignment, _ style: Style) {
            guard let cells else { return }
            grid.put(SafeText(text).fitted(to: cells.count, alignment), row: y, column: cells.lowerBound, style: style)
        }
        let size: String =
            switch entry.kind {
            case .folder: chosen.map { look.figures.size($0.count.bytes) } ?? ""
            default: entry.size.map { look.figures.size($0) } ?? ""
            }
        put(size, layout.size, .right, style)
        put(
            entry.modified.map { String(look.date(Timestamp(milliseconds: $0 * 1000)).prefix(10)) } ?? "",
            layout.modified, .left, style)
        let note = note(entry, chosen, inside: picker.basket.countInside(path))
        put(note.text, layout.items, .right, note.isProblem ? .warn : style)
    }

    /// What stands in the last column: how much, or what is the matter.
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

    // MARK: Places

    private mutating func places(_ picker: Picker, _ selected: Int, _ layout: PickerLayout) {
        if let row = layout.titles { grid.put("Places", row: row, column: 3, style: .title) }
        let all = picker.allPlaces
        let first = max(0, selected - layout.list.count + 1)
        for (y, index) in zip(layout.list, first..<max(first, all.count)) {
            let recent = index >= picker.places.all.count ? "used lately" : ""
            let text = tilde(all[index]).shortened(to: max(4, layout.listWidth - 18), mark: look.glyphs.cutMark)
            let end = grid.put(text, row: y, column: 3, end: layout.listWidth)
            grid.put(SafeText(recent), row: y, column: max(end + 2, 40), style: .dim, end: layout.listWidth)
            guard index == selected else { continue }
            grid.restyle(row: y, columns: 0..<layout.listWidth) { $0.isSelected = true }
            cursor = Cursor(row: y, column: min(3, width - 1))
        }
    }

    private mutating func placesLine(_ picker: Picker, _ layout: PickerLayout) {
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

    private mutating func chosen(_ picker: Picker, _ layout: PickerLayout) {
        guard let row = layout.chosen else { return }
        grid.put(
            chosenText(picker).shortened(to: width - 2, mark: look.glyphs.cutMark), row: row, column: 1, style: .marked)
    }

    private func chosenText(_ picker: Picker) -> SafeText {
        guard picker.purpose == .sources else { return "Into: " + tilde(picker.target) }
        let totals = picker.basket.totals
        guard !picker.basket.isEmpty else { return "Chosen: nothing yet" }
        let unreadable = totals.unreadable > 0 ? " (\(Figures.count(totals.unreadable)) cannot be read)" : ""
        return "Chosen: \(totals.line(look.figures))\(unreadable)"
    }

    private mutating func aside(_ picker: Picker, _ layout: PickerLayout) {
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
        let room = max(3, rows.count - picker.allPlaces.count - 4)
        let items = picker.basket.first(room)
        for item in items { if let row = next() { draw(item, row, column + 2, end) } }
        let more = picker.basket.count - items.count
        if more > 0, let row = next() {
            grid.put(
                SafeText("and \(Figures.count(Int64(more))) more"), row: row, column: column + 2, style: .dim, end: end)
        }
        _ = next()
        heading("Places")
        for path in picker.allPlaces {
            guard let row = next() else { break }
            grid.put(tilde(path).shortened(to: end - column - 2), row: row, column: column + 2, end: end)
        }
    }

    private mutating func draw(_ item: Basket.Item, _ row: Int, _ column: Int, _ end: Int) {
        let figures = look.figures.size(item.count.bytes)
        let count = item.isFolder ? "\(Figures.shortCount(item.count.files)) files" : ""
        let right = SafeText(count).fitted(to: 13, .right) + SafeText(figures).fitted(to: 8, .right)
        let name = bytes(ShellWords.last(item.path)) + (item.isFolder ? "/" : "")
        let room = end - column - right.width - 1
        grid.put(name.shortened(to: room, mark: look.glyphs.cutMark), row: row, column: column, end: end)
        grid.put(right, row: row, column: end - right.width, style: item.count.isComplete ? .plain : .info)
    }

    // MARK: The line that is typed, and the keys

    private mutating func pickerLine(_ picker: Picker, _ layout: PickerLayout) {
        guard let row = layout.line ?? layout.hints else { return }
        switch picker.mode {
        case .find(let field):
            let found = Figures.count(Int64(picker.folder.found.count))
            let all = Figures.count(Int64(picker.folder.count))
            let right = SafeText("\(found) of \(all) \(picker.folder.isComplete ? "match" : "read so far")")
            typed("find: ", field, row, right: field.isEmpty ? "" : right)
        case .path(let field): typed("path: ", field, row, note: picker.note)
        case .list, .places:
            if let note = picker.note {
                let text = note.text.shortened(to: width - 2, mark: look.glyphs.cutMark)
                grid.fill(row: row, style: .plain)
                grid.put(text, row: row, column: 1, style: note.isError ? .error : .plain)
            } else if layout.line != nil {
                grid.put(picker.advice(model.keys).beginning(of: width - 1), row: row, column: 1, style: .dim)
            }
        }
    }

    /// A line that is typed, with the cursor in it.
    mutating func typed(
        _ label: SafeText, _ field: TextField, _ row: Int, column: Int = 1, right: SafeText = "",
        note: (text: SafeText, isError: Bool)? = nil, isSecret: Bool = false, end: Int? = nil
    ) {
        let end = end ?? width
        grid.fill(row: row, columns: column..<end, style: .plain)
        let right = note?.text.beginning(of: max(0, (end - column) / 2)) ?? right
        let start = grid.put(label.beginning(of: max(0, end - column - 8)), row: row, column: column, style: .marked)
        let room = end - start - (right.width > 0 ? right.width + 3 : 1)
        let shown = isSecret ? TextField([UInt8](repeating: UInt8(ascii: "*"), count: field.count)) : field
        let (text, place) = shown.shown(in: max(1, room), look.characterSet)
        grid.put(text, row: row, column: start, end: end)
        if right.width > 0 {
            grid.put(right, row: row, column: end - 1 - right.width, style: note?.isError == true ? .error : .dim)
        }
        cursor = Cursor(row: row, column: min(width - 1, start + place), isVisible: true)
    }

    private mutating func pickerHints(_ picker: Picker, _ layout: PickerLayout) {
        guard let row = layout.hints else { return }
        let hints: [(key: String, word: String)]
        switch picker.mode {
        case .find: hints = [("Enter", "stay"), ("Esc", "back"), ("Up Down", "others"), ("/", "a path")]
        case .path: hints = [("Tab", "complete"), ("Enter", "go there"), ("Esc", "back")]
        case .places: hints = [("Enter", "go there"), ("Esc", "back")]
        case .list:
            let isTarget = picker.purpose == .target
            let wanted: [(Action, String)] =
                isTarget
                ? [
                    (.nextStep, "into this folder"), (.enter, "open"), (.close, "up"), (.typePath, "path"),
                    (.find, "find"),
                ]
                    + [(.places, "places"), (.hidden, "hidden"), (.help, "help"), (.back, "back")]
                : [(.nextStep, "next"), (.mark, "mark"), (.enter, "open"), (.close, "up"), (.markAll, "all")]
                    + [(.find, "find"), (.hidden, "hidden"), (.places, "places"), (.help, "help"), (.back, "close")]
            // Narrow windows keep the words of what everybody needs.
            let rare: [Action] = width >= 110 ? [] : [.markAll, .hidden, .places]
            hints = wanted.filter { !rare.contains($0.0) }.compactMap { action, word in
                model.keys.keys(for: action, in: .picker).first.map { ($0.name, word) }
            }
        }
        hintLine(HintLine.text(hints, width: width), row)
    }
}

extension Picker {
    /// What to do, while nothing else is to be said.
    func advice(_ keys: KeyMap) -> SafeText {
        let path = keys.keys(for: .typePath, in: .picker).first?.name ?? "~"
        if purpose == .target { return "Go to the folder that is to take the files; \(path) types a path." }
        let range = keys.keys(for: .markRange, in: .picker).first?.name ?? "v"
        return "\(path) types a path, \(range) marks a range, pasted paths are taken."
    }
}
