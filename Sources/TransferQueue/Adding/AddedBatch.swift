package import TransferModel

/// The batch that an upload or download request became.
package struct AddedBatch: Hashable, Sendable {
    package var batch: BatchID
    /// The batch was there already: the same UUID was asked for before.
    package var existed: Bool
}
