import FoundationEssentials

/// JSON of values that the queue compares by their bytes: the same for the same value each time. Without an order the keys come in that of
/// a dictionary, which is another one from one call to the next.
enum StableJSON {
    /// - Parameter value: of strings, numbers and Booleans only: there is nothing in it that JSON cannot say.
    static func bytes(of value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(value)).map(Array.init) ?? []
    }
}
