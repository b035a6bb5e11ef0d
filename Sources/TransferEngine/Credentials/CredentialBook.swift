import LinuxSystem
import TransferModel
import TransferQueue

/// Whom servers are shown: the batches at hand with their credentials, and how each login has been taken. A value of the engine. Start with
/// `TransferEngine+Contexts` (where credentials come from) and `TransferEngine+Logins` (who may use them).
struct CredentialBook {
    /// Batches some of whose tasks are at hand.
    var contexts: [BatchID: BatchContext] = [:]
    /// Contexts of batches that are over, and of which something is removed or read back; the one used last comes last.
    private var over: [BatchContext] = []
    private static let mostOver = 64
    /// Those that some context or attempt knows.
    private var logins: [Login.Key: KnownLogin] = [:]

    private struct KnownLogin {
        weak var login: Login?
    }
    /// The socket of the person's ssh agent.
    private(set) var sshAgent: RawPath?
    let receivers: ReceiverTokens

    init(_ receivers: ReceiverTokens) { self.receivers = receivers }

    /// The context of a batch that is over. One whose credentials could not be had a minute ago asks for them again.
    func overContext(of batch: BatchID, at now: Timestamp) -> BatchContext? {
        guard let context = over.first(where: { $0.order.batch == batch }) else { return nil }
        if context.credentials.mayAskAgain(at: now) { context.credentials.forgetFailure() }
        return context
    }

    mutating func keep(over context: BatchContext) {
        over.removeAll { $0.order.batch == context.order.batch }
        over = over.suffix(Self.mostOver - 1) + [context]
    }

    /// Forgets the contexts of all batches but these, and logins that no context or attempt holds.
    mutating func keep(_ batches: Set<BatchID>) {
        contexts = contexts.filter { batches.contains($0.key) }
        logins = logins.filter { $0.value.login != nil }
    }

    /// The login of all batches that show the same at a host; `nil`: none does so far.
    func login(_ key: Login.Key) -> Login? { logins[key]?.login }

    mutating func add(_ login: Login) { logins[login.key] = KnownLogin(login: login) }

    private var known: [Login] { logins.values.compactMap(\.login) }

    func refusal(_ context: BatchContext?, _ origin: String) -> LoginStanding.Refusal? {
        // Nothing was ever refused: nearly always.
        guard let context, !logins.isEmpty else { return nil }
        return context.logins[origin]?.standing.refusal
    }

    var isAnyRefused: Bool { logins.values.contains { $0.login?.standing.refusal != nil } }

    /// - Returns: false: it was known.
    mutating func useAgent(_ socket: RawPath) -> Bool {
        if socket == sshAgent { return false }
        sshAgent = socket
        return true
    }

    /// Has refused logins tried once more, and forgets credentials that could not be had.
    func tryAgain() {
        for login in known { login.tryAgain() }
        for context in contexts.values + over { context.credentials.forgetFailure() }
    }

    /// Has these tried once more at every host where they were refused.
    func tryAgain(_ secrets: TransferSecrets, _ sshCommand: String?) {
        for login in known where login.key.secrets == secrets && login.key.sshCommand == sshCommand {
            login.tryAgain()
        }
    }

    /// Has refused logins over ssh tried once more: another agent may hold the key that was missing.
    func tryAgentAgain() {
        for login in known where login.key.isOfSSH { login.tryAgain() }
    }
}
