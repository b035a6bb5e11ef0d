extension Sequence<TaskSnapshot> {
    /// Where these files come from, as it was named when they were queued: a folder once, not each file in it; a download's URL.
    /// In the order of the files, each once.
    package var namedSources: [String] {
        var found: [String] = []
        var known: Set<String> = []
        for task in self where known.insert(task.namedSource).inserted { found.append(task.namedSource) }
        return found
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
