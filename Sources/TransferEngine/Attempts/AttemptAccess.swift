import TransferModel

/// The credentials and authorities by which an attempt meets its server, against those that its batch has now. A value of the attempt.
struct AttemptAccess {
    /// The generation of the batch's credentials when the attempt began.
    private let generation: CredentialState.Generation
    /// `nil` until it begins.
    private(set) var login: Login?
    /// The file of authorities that it has waited for: once, whether its disk has answered or not.
    private var awaitedTrust: RawPath?

    init(_ context: BatchContext) { generation = context.credentials.generation }

    mutating func begin(with login: Login) { self.login = login }
    mutating func awaitTrust(of context: BatchContext) { awaitedTrust = context.trust.path }

    /// The batch would show something else by now.
    func hasOldKeys(_ context: BatchContext) -> Bool { generation.keys != context.credentials.generation.keys }

    /// A person has given another login since.
    func hasOldLogin(_ context: BatchContext) -> Bool { generation.secrets != context.credentials.generation.secrets }

    /// The batch's file of authorities is still to be waited for.
    func lacksTrust(_ context: BatchContext) -> Bool { context.trust.isUnread && awaitedTrust != context.trust.path }
}
