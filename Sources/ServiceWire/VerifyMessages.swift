package import FoundationEssentials
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
    /// Files of `id`, whatever became of them; `null` before the last answer.
    @OrNull package var total: Int64?

    package init(folder: VerifiedFolder?, next: Int64?, total: Int64? = nil) {
        _folder = OrNull(wrappedValue: folder)
        _next = OrNull(wrappedValue: next)
        _total = OrNull(wrappedValue: total)
    }
}

/// Parameters of `nodes.readBack`: the files of a batch, folder or task are read at their server and compared with what was sent. A request
/// without `seen` begins a run, or finds it begun; each is answered at once with how far it is. A run that nobody asks after for half a
/// minute ends, as all do with the engine.
package struct ReadBackRequest: Codable, Hashable, Sendable {
    package var id: NodeID
    /// Chosen by the client; a new UUID begins a run.
    package var run: UUID
    /// The number of findings that the client has; the answer leaves them out. Missing: the client has no answer of this run. A request
    /// with it begins nothing: it is refused when the engine does not know the run any more.
    package var seen: Int?

    package init(id: NodeID, run: UUID, seen: Int? = nil) {
        self.id = id
        self.run = run
        self.seen = seen
    }
}

/// Answer of `nodes.readBack`.
package struct ReadBackAnswer: Codable, Hashable, Sendable {
    package var progress: ReadBackProgress

    package init(progress: ReadBackProgress) { self.progress = progress }
}
