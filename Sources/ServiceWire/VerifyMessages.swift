package import TransferModel

/// Parameters of `nodes.verify`: one folder at the server that files of a batch, folder or task were sent to is listed and compared.
/// Answered when its server has; what is not there as it was sent fails `notThere`.
package struct VerifyRequest: Codable, Hashable, Sendable {
    package var id: NodeID
    /// The `next` of the answer before; missing: the first folder.
    package var after: Int64?

    package init(id: NodeID, after: Int64? = nil) {
        self.id = id
        self.after = after
    }
}

/// Answer of `nodes.verify`.
package struct VerifyAnswer: Codable, Hashable, Sendable {
    /// `null`: there was no further folder.
    @OrNull package var folder: VerifiedFolder?
    /// To be given as `after`; `null`: this was the last.
    @OrNull package var next: Int64?

    package init(folder: VerifiedFolder?, next: Int64?) {
        _folder = OrNull(wrappedValue: folder)
        _next = OrNull(wrappedValue: next)
    }
}
