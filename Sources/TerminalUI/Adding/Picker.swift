import DisplayText
import MartletKit
import Terminal

/// Choosing files and folders, or the one folder that downloads go into.
struct Picker: Sendable {
    /// The kind of choice that is made.
    enum Purpose: Hashable, Sendable {
        /// Any number of files and folders.
        case sources
        /// One folder.
        case target
    }

    /// The part of the picker that keys go to.
    enum Mode: Sendable {
        case list
        /// A name is looked for; Esc goes back to the row.
        case find(TextField)
        /// A path is typed.
        case path(TextField)
        /// The list of places is shown instead of the folder; the row in it.
        case places(Int)
    }

    /// An effect of a key beyond the picker's own state.
    enum Effect: Sendable {
        case local(LocalRequest)
        /// The next step.
        case goOn
        case close
        case help
    }

    let purpose: Purpose
    var folder: FolderView
    var basket = Basket()
    var mode = Mode.list
    var places = LocalPlaces(home: [])
    var recentFolders: [[UInt8]] = []
    /// A folder that is not there yet and was asked for.
    var newFolder: [UInt8]?
    /// True when the facts about the row of the cursor stand below the list.
    var showsInfo = false
    /// A folder that is counted for that, and what it holds so far.
    var counted: (path: [UInt8], count: FolderCount)?
    /// The last message; stays until the next key.
    var note: (text: SafeText, isError: Bool)?
    /// Pasted or typed paths that cannot be sent: listed until they are found, or nothing is chosen any more.
    var unusable: [LookedPath] = []
    /// Looks at typed or pasted paths that are not answered yet.
    private(set) var looks = 0
    /// The next step comes with the last answer, if nothing of it is missing.
    var goesOn = false

    init(_ purpose: Purpose, at path: [UInt8]) {
        self.purpose = purpose
        folder = FolderView(path)
    }

    /// The effects wanted first.
    var first: [Effect] { [.local(.list(folder.path, folder.order)), .local(.places)] }

    // MARK: What becomes known

    mutating func take(_ news: LocalNews, _ words: ShellWords, _ appearance: Appearance) -> [Effect] {
        switch news {
        case .listed(let path, let order, let snapshot):
            if path == folder.path, order == folder.order { folder.take(snapshot) }
        case .counted(let path, let count):
            basket.take(count, of: path)
            if counted?.path == path { counted?.count = count }
        case .completed(let word, let completion): complete(word, completion, words)
        case .looked(let paths, let purpose):
            looks = max(0, looks - 1)
            let effects = purpose == .choose ? choose(paths, appearance) : go(paths, appearance)
            return looks == 0 && goesOn ? effects + goOn() : effects
        case .places(let places, let recent, _):
            self.places = places
            recentFolders = recent.folders
        case .sifted, .logout: break
        }
        return []
    }

    /// The places in their order, each once; the recent ones last.
    var allPlaces: [[UInt8]] {
        var seen: Set<[UInt8]> = []
        return (places.all + recentFolders).filter { seen.insert($0).inserted }
    }

    /// Has paths looked at.
    mutating func look(at paths: [[UInt8]], _ purpose: LookPurpose) -> [Effect] {
        looks += 1
        return [.local(.look(paths, purpose))]
    }

    /// No answer is awaited any more: it went to nobody.
    mutating func forgetLooks() { (looks, goesOn) = (0, false) }

    /// An error is read before the next step.
    mutating func say(_ text: SafeText, isError: Bool = false) {
        note = (text, isError)
        if isError { goesOn = false }
    }

    // MARK: Going somewhere

    /// Shows another folder; `from`: the cursor goes onto this name.
    mutating func show(_ path: [UInt8], from name: [UInt8]? = nil) -> [Effect] {
        let height = folder.height
        folder = FolderView(path, order: folder.order, showsHidden: folder.showsHidden, from: name)
        folder.resize(height: height)
        mode = .list
        newFolder = nil
        return [.local(.list(path, folder.order))]
    }

    mutating func goUp() -> [Effect] {
        guard let parent = folder.parent else { return [] }
        return show(parent.path, from: parent.name)
    }

    /// Into the folder under the cursor; a file is chosen instead.
    mutating func open(marksFiles: Bool) -> [Effect] {
        switch folder.cursorRow {
        case .parent: return goUp()
        case .entry(let entry) where entry.kind == .folder:
            guard entry.isReadable else {
                say("This folder cannot be read.", isError: true)
                return []
            }
            return show(folder.path(of: entry))
        case .entry where marksFiles && purpose == .sources: return toggle(rows: folder.cursor...folder.cursor)
        case .entry, nil: return []
        }
    }

    // MARK: Choosing

    /// Chooses what is on these rows; takes it back when all of it is chosen already.
    mutating func toggle(rows: ClosedRange<Int>) -> [Effect] {
        guard purpose == .sources else { return [] }
        let entries = rows.compactMap { row -> FolderEntry? in
            if case .entry(let entry) = folder[row] { entry } else { nil }
        }
        if let outer = basket.enclosing(folder.path(of: FolderEntry(name: [0x2E], kind: .file))) {
            say("All of \(SafeText(ShellWords.last(outer)))/ is chosen: take it back there first.")
            return []
        }
        let chosen = entries.map { folder.path(of: $0) }.filter { basket[$0] != nil }
        if chosen.count == entries.count {
            let folders = Set(chosen.filter { basket[$0]?.isFolder == true })
            basket.remove(Set(chosen))
            return folders.isEmpty ? [] : [.local(.stopCounting(folders))]
        }
        return entries.flatMap { choose($0) }
    }

    private mutating func choose(_ entry: FolderEntry) -> [Effect] {
        let path = folder.path(of: entry)
        switch entry.kind {
        case _ where !entry.isReadable: say("\(SafeText(entry.name)) cannot be read: it is not chosen.", isError: true)
        case .other: say("\(SafeText(entry.name)) is neither a file nor a folder: it cannot be sent.", isError: true)
        case .file: basket.add(file: path, size: entry.size ?? 0)
        case .folder: return basket.add(folder: path) ? [.local(.count(path))] : []
        }
        return []
    }

    /// Chooses those of the pasted or typed paths that are there; says which are not.
    private mutating func choose(_ paths: [LookedPath], _ appearance: Appearance) -> [Effect] {
        var effects: [Effect] = []
        var added = 0
        let again = Set(paths.map(\.path))
        unusable.removeAll { again.contains($0.path) }
        let known = unusable.count
        for looked in paths {
            switch looked.finding {
            case .file(let size): if basket.add(file: looked.path, size: size) { added += 1 }
            case .folder:
                if basket.add(folder: looked.path) {
                    added += 1
                    effects.append(.local(.count(looked.path)))
                }
            case .missing, .unusable: unusable.append(looked)
            }
        }
        let found = unusable.dropFirst(known)
        if let why = found.first?.problem {
            let others = found.count > 1 ? " (and \(found.count - 1) more: see step 3)" : ""
            say("\(Figures.amount(Int64(added), "path")) chosen. \(appearance.safe(why))\(others).", isError: true)
        } else if added < paths.count {
            say("\(Figures.amount(Int64(added), "path")) chosen; the rest was chosen already.")
        } else {
            say(added == 0 ? "All of that was chosen already." : "\(Figures.amount(Int64(added), "path")) chosen.")
        }
        return effects
    }

    /// To the folder that was typed; a file is chosen in its own folder.
    private mutating func go(_ paths: [LookedPath], _ appearance: Appearance) -> [Effect] {
        guard let looked = paths.first else { return [] }
        switch looked.finding {
        case .folder: return show(looked.path)
        case .file:
            let file = RawPath(looked.path)
            guard purpose == .sources, let parent = file.parent else {
                say("This is a file: downloads go into a folder.", isError: true)
                return []
            }
            let effects = choose(paths, appearance)
            return effects + show(parent.bytes, from: file.lastComponent.bytes)
        case .missing where purpose == .target:
            newFolder = looked.path
            (mode, goesOn) = (.list, false)
            return [.goOn]
        case .missing(let why), .unusable(let why):
            say(appearance.safe(why + "."), isError: true)
            return []
        }
    }

    /// The folder that downloads go into.
    var target: [UInt8] { newFolder ?? folder.path }
}

extension ShellWords {
    /// The last part of a path.
    static func last(_ path: [UInt8]) -> [UInt8] {
        path.lastIndex(of: UInt8(ascii: "/")).map { Array(path[($0 + 1)...]) } ?? path
    }
}
