package import TransferModel

/// A login that its server has refused, or a server that ssh has, and a batch that waits for a person to see to it.
package struct RefusedLogin: Sendable, Hashable {
    package var place: HostTrouble.Place
    package var refusal: LoginStanding.Refusal
    /// All of the batch leads there.
    package var isWhole: Bool
    /// Files of the batch that stand in line for it; those that have tried it wait in the queue, and are not among them.
    package var files: Int64

    package init(place: HostTrouble.Place, refusal: LoginStanding.Refusal, isWhole: Bool, files: Int64) {
        self.place = place
        self.refusal = refusal
        self.isWhole = isWhole
        self.files = files
    }
}
