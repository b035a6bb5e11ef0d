/// The bound on whole files that are sent one after the other, of which nothing proves that they arrived.
enum UnprovenFiles {
    private static let most = 3

    /// The reasons to give in, behind "an earlier attempt may have reached HOST, but".
    static let answersAreLost = "its answers are lost, time after time"
    static let isNeverShown = "it reported success again and again, but does not show the file"

    /// Counts one more; `nil`: a person has to look.
    static func count(after earlier: Int?) -> Int? {
        let count = min(earlier ?? 0, most) + 1
        return count < most ? count : nil
    }
}
