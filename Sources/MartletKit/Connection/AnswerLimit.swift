import TransferModel

/// The time for which an answer of the engine is waited for.
///
/// A screen waits as long as it takes: it shows how the engine stands. A command must end: it runs its questions within a limit, which
/// holds for the connection as for every answer, except where the answer may rightly stay away (``MethodName/answersLate``).
package enum AnswerLimit {
    /// `nil`: none.
    @TaskLocal package static var current: Duration?

    /// The limit of a command for the first answer of a connection: an engine that lives greets at once.
    static let greeting = Duration.seconds(20)

    /// The limit of a command for an answer.
    package static let ofCommands = Duration.seconds(30)
}

extension EngineConnection {
    /// The error for a process that has the socket and says nothing.
    /// - Parameter process: its number, where it is known.
    static func silent(_ process: Int32?, after limit: Duration) -> RequestError {
        let seconds = limit.components.seconds + (limit.components.attoseconds > 0 ? 1 : 0)
        let cure =
            process.map {
                "'kill -CONT \($0)' lets it go on if it was stopped, 'kill -9 \($0)' ends it and loses nothing"
            }
            ?? "look after it there"
        return RequestError(
            .engineUnreachable,
            "the engine\(process.map { " (pid \($0))" } ?? "") has not answered for \(seconds) s: \(cure)")
    }
}
