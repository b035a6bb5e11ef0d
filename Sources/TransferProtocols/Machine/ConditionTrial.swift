/// Finds out whether a server heeds the condition that protects other people's files (`If-None-Match: *`). Some replace all the same (nginx),
/// and nothing in their answers tells.
///
/// A small file that was stored a moment ago is sent once more, under the same condition. Who heeds it refuses; who does not replaces the file by
/// itself. Until a server is known to heed conditions, it is asked what has a name before anything is sent under that name.
package enum ConditionTrial {
    /// Bytes of a file that is sent twice for this.
    package static let largest: Int64 = 64 << 10

    /// The lesson of the second answer's status; `nil`: nothing.
    static func lesson(of status: Int) -> HostFacts? {
        switch status {
        case 200..<300: HostFacts { $0.ignoresConditions = true }
        // The login, or the number of requests, is refused.
        case 401, 407, 408, 425, 429: nil
        // Another refusal than 412 leaves the file alone, too.
        case 400..<500: HostFacts { $0.ignoresConditions = false }
        default: nil
        }
    }
}
