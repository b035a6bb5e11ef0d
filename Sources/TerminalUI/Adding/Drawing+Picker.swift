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
        let layout = PickerLayout(model.size, flow.picker)
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
        pickerInfo(picker, layout)
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
        grid.put(path.shortened(to: max(8, room), mark: appearance.glyphs.cutMark), row: row, column: 1, style: .marked)
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
    func bytes(_ bytes: [UInt8]) -> SafeText { SafeText(bytes, characterSet: appearance.characterSet) }

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

    // MARK: The line that is typed, and the keys

    private mutating func pickerLine(_ picker: Picker, _ layout: PickerLayout) {
        guard let row = layout.line ?? layout.hints else { return }
        switch picker.mode {
        case .find(let field):
            let found = Figures.count(Int64(picker.folder.found.count))
            let all = Figures.count(Int64(picker.folder.entryCount))
            let right = SafeText("\(found) of \(all) \(picker.folder.isComplete ? "match" : "read so far")")
            typed("find: ", field, row, right: field.isEmpty ? "" : right)
        case .path(let field): typed("path: ", field, row, note: picker.note)
        case .list, .places:
            if let note = picker.note {
                let text = note.text.cut(to: width - 2, appearance.glyphs)
                grid.fill(row: row, style: .plain)
                grid.put(text, row: row, column: 1, style: note.isError ? .error : .plain)
            } else if layout.line != nil {
                grid.put(picker.advice(model.keys).beginning(of: width - 1), row: row, column: 1, style: .dim)
            }
        }
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
                    + [(.places, "places"), (.hidden, "hidden"), (.back, "back"), (.help, "help")]
                : [(.nextStep, "next"), (.mark, "mark"), (.enter, "open"), (.close, "up"), (.markAll, "all")]
                    + [(.find, "find"), (.details, "info"), (.hidden, "hidden"), (.places, "places"), (.back, "close")]
                    + [(.help, "help")]
            // Narrow windows keep the words of what everybody needs.
            let rare: [Action] = width >= 110 ? [] : [.markAll, .hidden, .places, .details]
            hints = wanted.filter { !rare.contains($0.0) }.compactMap { action, word in
                model.keys.keys(for: action, in: .picker).first.map { ($0.name, word) }
            }
        }
        hintLine(HintLine.text(hints, width: width), row)
    }
}

extension Picker {
    /// The advice for the user, while nothing else is to be said.
    func advice(_ keys: KeyMap) -> SafeText {
        let path = keys.keys(for: .typePath, in: .picker).first?.name ?? "~"
        if purpose == .target { return "Go to the folder that is to take the files; \(path) types a path." }
        let range = keys.keys(for: .markRange, in: .picker).first?.name ?? "v"
        return "\(path) types a path, \(range) marks a range, pasted paths are taken."
    }
}
