/// The reason why what a person wants to have queued cannot be meant: found out before the engine hears of it.
package struct QueueingFault: Error, Hashable, Sendable {
    /// Stable names, the same as in the command contract.
    package enum Code: String, Sendable {
        case usage, noSuchObject, sourceMissing, sourceUnreadable, unsupported
    }

    package var code: Code
    package var what: String
    /// The action that mends it.
    package var remedy: String

    package init(_ code: Code, _ what: String, _ remedy: String) {
        self.code = code
        self.what = what
        self.remedy = remedy
    }

    package static func usage(_ what: String, _ remedy: String) -> QueueingFault { QueueingFault(.usage, what, remedy) }

    /// `what happened: what to do`.
    package var message: String { "\(what): \(remedy)" }
}
