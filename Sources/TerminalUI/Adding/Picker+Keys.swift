import DisplayText
import MartletKit
import Terminal

/// The effects of keys, clicks and pastes while files are picked.
extension Picker {
    mutating func take(_ press: KeyPress, _ keys: KeyMap, _ words: ShellWords, _ appearance: Appearance) -> [Effect] {
        note = nil
        goesOn = false
        switch mode {
        case .list: return keys.action(for: press, in: .picker).map { perform($0) } ?? []
        case .find(let field): return find(press, field)
        case .path(let field): return typePath(press, field, words)
        case .places(let row): return choosePlace(press, row, keys)
        }
    }

    // MARK: The list

    private mutating func perform(_ action: Action) -> [Effect] {
        if let effects = move(action) { return effects }
        switch action {
        case .open: return open(marksFiles: false)
        case .enter: return open(marksFiles: true)
        case .close: return goUp()
        case .mark: return markAndStep()
        case .markRange: return markRange()
        case .markAll: return markAll()
        case .unmarkAll: return unmarkAll()
        case .hidden:
            folder.toggleHidden()
            say(folder.showsHidden ? "Hidden files are shown." : "Hidden files are not shown.")
        case .sort: return sort()
        case .reverse:
            folder.sort(FolderOrder(folder.order.key, reversed: !folder.order.isReversed))
            return [.local(.list(folder.path, folder.order))]
        case .find:
            folder.beginFind()
            mode = .find(TextField())
        case .nextMatch: folder.findNext(1)
        case .previousMatch: folder.findNext(-1)
        case .places: mode = .places(0)
        case .typePath: mode = .path(TextField(Array("~/".utf8)))
        case .nextStep: return goOn()
        case .details: return info()
        case .help: return [.help]
        case .back where showsInfo: return closeInfo()
        case .back where folder.rangeStart != nil: folder.endRange()
        case .back, .interrupt: return [.close]
        default: break
        }
        return []
    }

    private mutating func move(_ action: Action) -> [Effect]? {
        switch action {
        case .down: folder.move(by: 1)
        case .up: folder.move(by: -1)
        case .halfPageDown: folder.page(by: max(1, folder.height / 2))
        case .halfPageUp: folder.page(by: -max(1, folder.height / 2))
        case .pageDown: folder.page(by: max(1, folder.height - 1))
        case .pageUp: folder.page(by: -max(1, folder.height - 1))
        case .first: folder.move(to: 0)
        case .last: folder.move(to: .max)
        default: return nil
        }
        return []
    }

    private mutating func markAndStep() -> [Effect] {
        if folder.rangeStart != nil { return markRange() }
        guard folder.cursorEntry != nil else {
            folder.move(by: 1)
            return []
        }
        let effects = toggle(rows: folder.cursor...folder.cursor)
        folder.move(by: 1)
        return effects
    }

    private mutating func markRange() -> [Effect] {
        guard purpose == .sources else { return [] }
        guard let range = folder.range else {
            folder.beginRange()
            say("A range begins here: go to its other end and press the same key.")
            return []
        }
        folder.endRange()
        return toggle(rows: range)
    }

    private mutating func markAll() -> [Effect] {
        guard folder.isComplete else {
            say("The folder is still being read: mark all when its names are there.", isError: true)
            return []
        }
        guard folder.count > 0 else { return [] }
        return toggle(rows: 0...(folder.count - 1))
    }

    private mutating func unmarkAll() -> [Effect] {
        let folders = Set(basket.paths.filter { basket[$0]?.isFolder == true })
        basket.removeAll()
        unusable = []
        say("Nothing is chosen any more.")
        return folders.isEmpty ? [] : [.local(.stopCounting(folders))]
    }

    private mutating func sort() -> [Effect] {
        let keys = FolderOrder.Key.allCases
        let next = keys[((keys.firstIndex(of: folder.order.key) ?? 0) + 1) % keys.count]
        folder.sort(FolderOrder(next))
        return [.local(.list(folder.path, folder.order))]
    }

    /// Without anything chosen the row of the cursor is meant.
    mutating func goOn() -> [Effect] {
        goesOn = looks > 0
        if goesOn {
            say("What was typed or pasted is being looked at: the next step comes by itself.")
            return []
        }
        guard purpose == .sources, basket.isEmpty else { return [.goOn] }
        guard folder.cursorEntry != nil else {
            say("Nothing is chosen yet: Space marks files and folders.", isError: true)
            return []
        }
        let effects = toggle(rows: folder.cursor...folder.cursor)
        return basket.isEmpty ? effects : effects + [.goOn]
    }

    // MARK: Finding

    private mutating func find(_ press: KeyPress, _ field: TextField) -> [Effect] {
        var field = field
        switch (press.key, press.modifiers) {
        case (.enter, _): mode = .list
        case (.escape, _), (.character("c"), .control):
            folder.endFind()
            mode = .list
        case (.down, _): folder.findNext(1)
        case (.up, _): folder.findNext(-1)
        case (.character("/"), []) where field.isEmpty:
            // A second slash: it is a path that is meant.
            folder.endFind()
            mode = .path(TextField(Array("/".utf8)))
        case (.character("/"), []):
            // No name has one in it: the first slash was the beginning of a path.
            folder.endFind()
            let slash = [UInt8(ascii: "/")]
            mode = .path(TextField(slash + field.bytes + slash))
        default:
            guard field.edit(press) else { break }
            folder.find(field.bytes)
            mode = .find(field)
        }
        return []
    }

    // MARK: A path

    private mutating func typePath(_ press: KeyPress, _ field: TextField, _ words: ShellWords) -> [Effect] {
        var field = field
        switch (press.key, press.modifiers) {
        case (.escape, _), (.character("c"), .control): mode = .list
        case (.tab, _): return words.lastWord(field.beforeCursor).map { [.local(.complete($0.word))] } ?? []
        case (.enter, _): return entered(field, words)
        // Home stands there to begin with; whoever types a slash wants the root.
        case (.character("/"), []) where field.bytes == Array("~/".utf8):
            mode = .path(TextField([UInt8(ascii: "/")]))
        default:
            _ = field.edit(press)
            mode = .path(field)
        }
        return []
    }

    private mutating func entered(_ field: TextField, _ words: ShellWords) -> [Effect] {
        guard let typed = words.split(field.bytes) else {
            say("A quote is not closed.", isError: true)
            return []
        }
        let paths = typed.map { absolute($0) }
        guard let first = paths.first else {
            mode = .list
            return []
        }
        if paths.count == 1 { return look(at: [first], .go) }
        mode = .list
        return look(at: paths, .choose)
    }

    /// The absolute path of a typed one: without a slash in front it is below the folder that is shown.
    private func absolute(_ word: [UInt8]) -> [UInt8] {
        word.first == UInt8(ascii: "/") ? word : FolderView.path(of: word, in: folder.path)
    }

    mutating func complete(_ word: [UInt8], _ completion: PathCompletion?, _ words: ShellWords) {
        // The line may have changed while the folder was read.
        guard case .path(var field) = mode, let last = words.lastWord(field.beforeCursor), last.word == word else {
            return
        }
        guard let completion, completion.candidates > 0 else { return say("No such file.", isError: true) }
        if completion.candidates > 1 { say("\(completion.candidates) names fit.") }
        field.replaceBeforeCursor(with: field.beforeCursor.prefix(last.start) + ShellWords.quote(completion.path))
        mode = .path(field)
    }

    // MARK: Places

    private mutating func choosePlace(_ press: KeyPress, _ row: Int, _ keys: KeyMap) -> [Effect] {
        let places = allPlaces
        let last = max(0, places.count - 1)
        switch keys.action(for: press, in: .picker) {
        case .down: mode = .places(min(row + 1, last))
        case .up: mode = .places(max(row - 1, 0))
        case .first, .pageUp, .halfPageUp: mode = .places(0)
        case .last, .pageDown, .halfPageDown: mode = .places(last)
        case .enter, .open: return places.indices.contains(row) ? show(places[row]) : []
        case .places, .back, .close, .interrupt: mode = .list
        case .help: return [.help]
        default: break
        }
        return []
    }

    // MARK: Pasting

    /// Paths fill the basket; in a line that is typed they go into it.
    mutating func paste(_ bytes: [UInt8], _ words: ShellWords) -> [Effect] {
        note = nil
        switch mode {
        case .find(var field):
            field.paste(bytes)
            folder.find(field.bytes)
            mode = .find(field)
            return []
        case .path(var field):
            let pasted = words.pasted(bytes)
            // As a slash does, a whole path takes the place of home, which stands there to begin with.
            if field.bytes == Array("~/".utf8), pasted.first?.first == UInt8(ascii: "/") { field = TextField() }
            field.insert(Array(pasted.map(ShellWords.quote).joined(separator: [0x20])))
            mode = .path(field)
            return []
        case .list, .places:
            mode = .list
            let paths = words.pasted(bytes).map { absolute($0) }
            if paths.isEmpty { return [] }
            return look(at: paths, purpose == .target ? .go : .choose)
        }
    }

    // MARK: The mouse

    /// - Parameter row: of the folder; `nil`: elsewhere.
    mutating func click(row: Int, onMark: Bool, isDouble: Bool) -> [Effect] {
        note = nil
        goesOn = false
        guard case .list = mode, folder[row] != nil else { return [] }
        folder.move(to: row)
        if onMark { return toggle(rows: row...row) }
        return isDouble ? open(marksFiles: true) : []
    }
}
