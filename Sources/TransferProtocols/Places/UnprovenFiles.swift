/// The bound on whole files that are sent one after the other, of which nothing proves that they arrived.
enum UnprovenFiles {
    private static let most = 3

    /// Counts one more; `nil`: a person has to look.
    static func count(after earlier: Int?) -> Int? {
        let count = min(earlier ?? 0, most) + 1
        return count < most ? count : nil
    }
}
