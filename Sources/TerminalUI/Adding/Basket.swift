import MartletKit

/// The files and folders chosen to be sent, across folders, in the order in which they were chosen. A folder stands for
/// everything in it, so nothing inside one is chosen besides.
struct Basket: Sendable {
    struct Item: Hashable, Sendable {
        /// Absolute.
        let path: [UInt8]
        let isFolder: Bool
        /// The count of a file is itself; of a folder, what has been counted so far.
        var count: FolderCount
    }

    /// The sums over everything chosen.
    struct Totals: Hashable, Sendable {
        var folders: Int64 = 0
        /// Chosen one by one.
        var singleFiles: Int64 = 0
        /// All of them, those in folders included.
        var files: Int64 = 0
        var bytes: Int64 = 0
        var unreadable: Int64 = 0
        var leftOut: Int64 = 0
        var emptyFolders: Int64 = 0
        /// Folders that are not counted to their end.
        var uncounted: Int64 = 0

        /// The number of things that are of no kind that is sent, by kind; empty: there are none.
        var unsentKinds: String {
            let parts = [
                leftOut > 0 ? Figures.amount(leftOut, "link or special file", "links and special files") : nil,
                emptyFolders > 0 ? Figures.amount(emptyFolders, "empty folder") : nil,
            ]
            return parts.compactMap(\.self).joined(separator: ", ")
        }

        fileprivate mutating func add(_ item: Item, times: Int64) {
            if item.isFolder { folders += times } else { singleFiles += times }
            files += times * item.count.files
            bytes &+= times &* item.count.bytes
            unreadable += times * item.count.unreadable
            leftOut += times * item.count.leftOut
            emptyFolders += times * item.count.emptyFolders
            if !item.count.isComplete { uncounted += times }
        }
    }

    /// The chosen things that lie in a folder.
    private struct Inside: Sendable {
        /// The number of chosen things, at any depth.
        var count = 0
        /// The paths directly in it that are chosen or have something chosen in them.
        var children: Set<[UInt8]> = []
    }

    /// `nil`: it was taken out; such places go when they are the most.
    private var order: [[UInt8]?] = []
    private var byPath: [[UInt8]: (item: Item, place: Int)] = [:]
    /// The folders above what was chosen.
    private var inside: [[UInt8]: Inside] = [:]
    /// Kept up to date, so that a frame costs the same however much is chosen.
    private(set) var totals = Totals()

    var isEmpty: Bool { byPath.isEmpty }
    var count: Int { byPath.count }
    /// Absolute paths, in the order in which they were chosen.
    var paths: [[UInt8]] { order.compactMap(\.self) }
    subscript(path: [UInt8]) -> Item? { byPath[path]?.item }

    /// The first ones, for a list of as many lines.
    func first(_ count: Int) -> [Item] {
        order.lazy.compactMap(\.self).prefix(max(0, count)).compactMap { byPath[$0]?.item }
    }

    /// The chosen folder that `path` is somewhere in.
    func enclosing(_ path: [UInt8]) -> [UInt8]? {
        if isEmpty { return nil }
        return Self.ancestors(of: path).first { byPath[$0]?.item.isFolder == true }
    }

    /// The number of chosen things in `folder`, at any depth.
    func countInside(_ folder: [UInt8]) -> Int { inside[folder]?.count ?? 0 }

    /// Puts a file in. False: it is there, or in a chosen folder, already.
    @discardableResult
    mutating func add(file path: [UInt8], size: Int64) -> Bool {
        put(Item(path: path, isFolder: false, count: FolderCount(files: 1, bytes: size, isComplete: true)))
    }

    /// Puts a folder in; what was chosen inside it is part of it now. False: as `add(file:size:)`.
    @discardableResult
    mutating func add(folder path: [UInt8]) -> Bool {
        guard put(Item(path: path, isFolder: true, count: FolderCount())) else { return false }
        remove(chosen(in: path))
        return true
    }

    /// The chosen paths in a folder, at any depth, found by the folders that have some.
    private func chosen(in folder: [UInt8]) -> Set<[UInt8]> {
        var chosen: Set<[UInt8]> = []
        var open = Array(inside[folder]?.children ?? [])
        while let path = open.popLast() {
            if byPath[path] != nil { chosen.insert(path) }
            open += inside[path]?.children ?? []
        }
        return chosen
    }

    mutating func remove(_ paths: Set<[UInt8]>) {
        for path in paths {
            guard let (item, place) = byPath.removeValue(forKey: path) else { continue }
            order[place] = nil
            totals.add(item, times: -1)
            var below = path
            for folder in Self.ancestors(of: path) {
                // Nothing is left of it: neither chosen itself nor above anything chosen.
                if byPath[below] == nil, inside[below] == nil { inside[folder]?.children.remove(below) }
                inside[folder]?.count -= 1
                if inside[folder]?.count == 0 { inside[folder] = nil }
                below = folder
            }
        }
        if order.count > 2 * byPath.count { closeUp() }
    }

    private mutating func closeUp() {
        order = paths.map(Optional.some)
        for (place, path) in order.enumerated() { if let path { byPath[path]?.place = place } }
    }

    mutating func removeAll() { self = Basket() }

    /// Takes the count of a folder so far; does nothing when it is not chosen any more.
    mutating func take(_ count: FolderCount, of path: [UInt8]) {
        guard var item = self[path], item.isFolder else { return }
        totals.add(item, times: -1)
        item.count = count
        byPath[path]?.item = item
        totals.add(item, times: 1)
    }

    private mutating func put(_ item: Item) -> Bool {
        guard byPath[item.path] == nil, enclosing(item.path) == nil else { return false }
        byPath[item.path] = (item, order.count)
        order.append(item.path)
        totals.add(item, times: 1)
        var below = item.path
        for folder in Self.ancestors(of: item.path) {
            inside[folder, default: Inside()].count += 1
            inside[folder]?.children.insert(below)
            below = folder
        }
        return true
    }

    private static let slash = UInt8(ascii: "/")

    /// The folders that a path is in, from the innermost to the root.
    private static func ancestors(of path: [UInt8]) -> [[UInt8]] {
        var ancestors: [[UInt8]] = []
        var end = path.count
        while let last = path[..<end].lastIndex(of: slash) {
            let parent = last == 0 ? [slash] : Array(path[..<last])
            if parent != path { ancestors.append(parent) }
            end = last
        }
        return ancestors
    }
}

extension Basket.Totals {
    /// `2 folders, 1 file`: what was chosen, not what is in it.
    var chosen: String {
        var parts: [String] = []
        if folders > 0 { parts.append(Figures.amount(folders, "folder")) }
        if singleFiles > 0 || folders == 0 { parts.append(Figures.amount(singleFiles, "file")) }
        return parts.joined(separator: ", ")
    }

    /// `827 files, 61.0G`; says when it may still grow.
    func sum(_ figures: Figures) -> String {
        let more = uncounted > 0 ? ", counting" : ""
        return "\(Figures.amount(files, "file")), \(figures.size(bytes))\(more)"
    }

    /// Both in a line.
    func line(_ figures: Figures) -> String {
        folders == 0 ? sum(figures) : "\(chosen) = \(sum(figures))"
    }
}
