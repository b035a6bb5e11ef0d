/// The way in which servers of a protocol know who asks. Each kind is a case and its row of `facts`.
package enum LoginKind: Sendable {
    /// Header fields, or a name and a password; many servers ask nobody.
    case fields
    /// A name and a password.
    case password
    /// The person's own ssh logs in, and knows the servers' keys.
    case ssh
    /// Keys of AWS (`TransferSecrets.s3`, AWS_* and its profiles), which sign each request.
    case awsKeys

    private struct Facts {
        var source: (word: String, meaning: String)?
        var isOptional = false
        var isByOwnProgram = false
        var signsRequests = false
        var secret = "Password"
        var elsewhere: String?
    }

    private var facts: Facts {
        switch self {
        case .fields: Facts(isOptional: true)
        case .password: Facts()
        case .ssh:
            Facts(
                source: ("ssh", "your own ssh logs in"), isByOwnProgram: true,
                elsewhere: "add its key to ssh-agent (ssh-add)")
        case .awsKeys:
            Facts(
                source: ("AWS", "keys from the environment or AWS's files"), signsRequests: true, secret: "Secret key")
        }
    }

    /// The source of a login of which a destination says nothing, in a word and in a phrase; `nil`: a person knows it.
    package var source: (word: String, meaning: String)? { facts.source }
    /// Many servers ask nobody.
    package var isOptional: Bool { facts.isOptional }
    /// A program of the person's own logs in: no password of ours is asked for.
    package var isByOwnProgram: Bool { facts.isByOwnProgram }
    /// A key signs each request: without one nothing can be asked.
    package var signsRequests: Bool { facts.signsRequests }
    /// The name of what is typed beside the user.
    package var secret: String { facts.secret }
    /// The way to be let in that Martlet has no part in, as an imperative; `nil`: there is none.
    package var elsewhere: String? { facts.elsewhere }
}
