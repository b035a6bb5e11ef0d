import DisplayText
import MartletKit
import Terminal

/// The facts known about the row of the cursor: of a file its bytes and time, of a folder what it holds.
extension Picker {
    /// Shows it, or what the folder under the cursor holds; the same key on the same row puts it away.
    mutating func info() -> [Effect] {
        guard let entry = folder.cursorEntry else {
            showsInfo.toggle()
            return showsInfo ? [] : closeInfo()
        }
        let path = folder.path(of: entry)
        let isCountable = entry.kind == .folder && entry.isReadable && basket[path] == nil
        guard !showsInfo || isCountable && counted?.path != path else { return closeInfo() }
        showsInfo = true
        guard isCountable, counted?.path != path else { return [] }
        let before = stopCounting()
        counted = (path, FolderCount())
        return before + [.local(.count(path))]
    }

    mutating func closeInfo() -> [Effect] {
        showsInfo = false
        defer { counted = nil }
        return stopCounting()
    }

    /// One that was chosen meanwhile is counted on.
    private func stopCounting() -> [Effect] {
        guard let counted, basket[counted.path] == nil, !counted.count.isComplete else { return [] }
        return [.local(.stopCounting([counted.path]))]
    }

    /// The count of what a folder holds, as far as it is known.
    func count(of path: [UInt8]) -> FolderCount? {
        basket[path]?.count ?? (counted?.path == path ? counted?.count : nil)
    }
}

extension Drawing {
    mutating func pickerInfo(_ picker: Picker, _ layout: PickerLayout) {
        guard layout.info.count == 2, let entry = picker.folder.cursorEntry else { return }
        let name = bytes(entry.name) + (entry.kind == .folder ? "/" : "")
        heading(
            name.shortened(to: max(8, layout.listWidth - 8), mark: appearance.glyphs.cutMark),
            row: layout.info.lowerBound, columns: 0..<layout.listWidth)
        let text = info(entry, picker)
        grid.put(text.cut(to: layout.listWidth - 2, appearance.glyphs), row: layout.info.lowerBound + 1, column: 1)
    }

    private func info(_ entry: FolderEntry, _ picker: Picker) -> SafeText {
        var parts: [SafeText] = []
        if !entry.isReadable { parts.append("cannot be read: permission denied") }
        if entry.isLink { parts.append("a link") }
        switch entry.kind {
        case .folder: parts += folderInfo(entry, picker)
        case .other: parts.append("neither a file nor a folder: it cannot be sent")
        case .file: if let size = entry.size { parts.append("\(Figures.count(size)) bytes") }
        }
        if let modified = entry.modified, entry.kind != .folder { parts.append("changed \(date(modified))") }
        if SafeText(entry.name).string.utf8.elementsEqual(entry.name) == false {
            parts.append("its name is shown escaped and sent as it is")
        }
        return parts.dropFirst().reduce(parts.first ?? "") { $0 + ", " + $1 }
    }

    private func folderInfo(_ entry: FolderEntry, _ picker: Picker) -> [SafeText] {
        guard entry.isReadable else { return [] }
        guard let count = picker.count(of: picker.folder.path(of: entry)) else {
            return ["\(SafeText(model.keys.keys(for: .details, in: .picker).first?.name ?? "i")) counts what is in it"]
        }
        let counting = count.isComplete ? "" : ", counting"
        var parts = [
            SafeText("\(Figures.amount(count.files, "file")), \(appearance.figures.size(count.bytes))\(counting)")
        ]
        if count.unreadable > 0 { parts.append("\(Figures.count(count.unreadable)) cannot be read") }
        if count.leftOut > 0 { parts.append("\(Figures.count(count.leftOut)) not sent") }
        if count.emptyFolders > 0 { parts.append("\(Figures.amount(count.emptyFolders, "empty folder"))") }
        if count.largestBytes > 0 {
            let name = bytes(ShellWords.last(count.largest)).shortened(to: 24, mark: appearance.glyphs.cutMark)
            parts.append("largest \(name) \(appearance.figures.size(count.largestBytes))")
        }
        if let newest = count.newest { parts.append("newest \(date(newest))") }
        return parts
    }

    private func date(_ seconds: Int64) -> SafeText {
        SafeText(String(appearance.date(Timestamp(seconds: seconds)).prefix(16)))
    }
}
