import CommandLine
import Configuration
import MartletKit

/// Options that several commands have.
enum CommonOptions {
    static let json = Option.flag("json", "print JSON, one object a line where there are many")

    // Selectors
    static let all = Option.flag("all", "everything")
    static let batch = Option("batch", ValueSyntax<BatchID>.batch, "what belongs to this batch")
    static let session = Option("session", ValueSyntax<SessionName>.session, "what belongs to this session")
    static let state = Option(
        "state", ValueSyntax<[TransferState]>.choices("STATE", TransferState.self), "tasks in one of these states")
    static let failed = Option.flag("failed", "failed tasks")
    static let filter = Option(
        "filter", ValueSyntax<String>.text("EXPR"), "tasks that match, as on the screen with /: see FILTERS")

    /// Ways of naming many at once; conditions given together must all hold.
    static let selectors = OptionGroup(
        "Selectors (narrowed together; a batch may stand before them: b7 --failed)",
        [all, batch, session, state, failed, filter])
    static let output = OptionGroup("Output", [json])
}
