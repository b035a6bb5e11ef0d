/// The file under the final name, as the last look before the bytes saw it: by that a later look knows that a file came since.
enum NameBefore: Hashable, Sendable {
    case unseen
    case nothing
    case file(StandingFile)

    /// Returns true when `file` surely is not what was there before.
    func isReplaced(by file: StandingFile) -> Bool {
        guard case .file(let old) = self else { return self == .nothing }
        return differ(old.etag, file.etag) || differ(old.modified, file.modified) || differ(old.size, file.size)
    }

    private func differ<Value: Equatable>(_ one: Value?, _ other: Value?) -> Bool {
        one != nil && other != nil && one != other
    }
}
