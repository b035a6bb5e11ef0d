/// The file under the final name as the last look before the bytes found it. A later look recognises by it that a file came since.
enum NameBefore: Hashable, Sendable {
    /// Nobody has looked.
    case unseen
    /// No file has the name.
    case nothing
    /// This file has it.
    case file(StandingFile)
    /// The server did not tell.
    case untold

    /// A look found no file, or told of none.
    var isFree: Bool { self == .nothing || self == .untold }

    /// Returns true when `file` surely is not what was there before.
    func isReplaced(by file: StandingFile) -> Bool {
        guard case .file(let old) = self else { return self == .nothing }
        return differ(old.etag, file.etag) || differ(old.modified, file.modified) || differ(old.size, file.size)
    }

    private func differ<Value: Equatable>(_ one: Value?, _ other: Value?) -> Bool {
        one != nil && other != nil && one != other
    }
}
