// MartletKit: the client library, `martlet`'s only way to the engine. Start reading at `EngineConnection` (one per process: finding, starting
// and finding again the engine; requests and subscriptions), then `Link` (the socket), `EngineLauncher`; `TransferSession`, `TransferBatch`
// and `ProgressNode` put URLSession's words on top. Thread: a loop of its own; its functions may be called from anywhere.

/// Background transfer sessions for Linux: what is queued here goes on in an engine of its own (`martletd`), whatever
/// becomes of this process.
///
/// Start with ``TransferSession`` for URLSession's vocabulary, or with ``EngineConnection`` for everything that the
/// commands and the screen of Martlet use; there is nothing else. The connection lives on a thread of its own; its
/// functions may be called from any executor and never block the caller's.
@_exported public import TransferModel
