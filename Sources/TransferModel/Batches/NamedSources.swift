/// The sources of a batch's files, as they were named when they were queued: a folder once, not each file in it; a download's
/// URL. As its order names them, else as far as its first files tell.
package struct NamedSources: Hashable, Sendable {
    /// So many files are looked at, at most.
    package static let sample = 200
    /// So many places are named one by one.
    private static let mostShown = 5

    /// In the order of the files, each once.
    package let places: [String]
    /// The files that were looked at; `nil`: the order names all sources.
    private let files: Int64?

    /// The sources that an order names, in its order.
    package init(named sources: [UploadSource]) {
        var known: Set<String> = []
        (places, files) = (sources.map(\.path.displayed).filter { known.insert($0).inserted }, nil)
    }

    package init(_ first: [TaskSnapshot]) {
        var found: [String] = []
        var known: Set<String> = []
        for task in first where known.insert(task.namedSource).inserted { found.append(task.namedSource) }
        (places, files) = (found, Int64(first.count))
    }

    /// Those that are named one by one.
    package var shown: ArraySlice<String> { places.prefix(Self.mostShown) }

    /// True when a batch has no other sources, or no other files than those that were looked at.
    package func isWhole(of total: Int64, scanning: Bool) -> Bool { files.map { !scanning && total <= $0 } ?? true }

    /// The number of places besides those that are named: `3 more`, or `more` where nobody has looked at all files; `nil`: none.
    /// One folder that fills all that was looked at is taken for the only one.
    package func others(isWhole: Bool) -> String? {
        let others = places.count - shown.count
        if isWhole { return others > 0 ? "\(others) more" : nil }
        return places.count > 1 ? "more" : nil
    }
}

extension TaskSnapshot {
    /// The file's own place, or that of the outermost folder that was queued with it.
    fileprivate var namedSource: String {
        let below = "/\(folder)/\(name)"
        guard direction == .upload, !folder.isEmpty, source.hasSuffix(below) else { return source }
        let outermost = folder.prefix { $0 != "/" }
        return "\(source.dropLast(below.count))/\(outermost)"
    }
}
