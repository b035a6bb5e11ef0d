import TransferModel

/// Sizes, pauses and patience of uploads whose server tells an offset (tus, the IETF draft).
enum UploadPace {
    /// Files up to this size, in bytes, go along with their creation, where the server takes that: there is nothing worth resuming.
    static let smallFile: Int64 = 1 << 20
    /// The smallest body, in bytes, that a refusal for its size leads to.
    static let smallestBody: Int64 = 64 << 10
    /// Pauses before a locked upload is asked after again. Then the attempt ends.
    static let pauses: [Duration] = [.milliseconds(250), .seconds(1), .seconds(2), .seconds(5), .seconds(10)]
    /// Times that an attempt begins anew before it gives up.
    static let mostRestarts = 2

    /// The length of body, in bytes, to try after one that was refused for its size; `nil`: there is none to try, so the file fails. Each is
    /// smaller than the one before, so refusals come to an end.
    /// - Parameter floor: the least that the file or its server takes.
    static func smallerBody(than refused: Int64, floor: Int64 = smallestBody) -> Int64? {
        guard refused > floor else { return nil }
        return max(floor, min(refused / 2, 64 << 20))
    }
}
