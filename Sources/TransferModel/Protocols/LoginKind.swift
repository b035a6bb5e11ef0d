/// The way in which servers of a protocol know who asks.
package enum LoginKind: Sendable {
    /// Header fields, or a name and a password; many servers ask nobody.
    case fields
    /// A name and a password.
    case password
    /// The person's own ssh logs in, and knows the servers' keys.
    case ssh
    /// Keys of AWS (`TransferSecrets.s3`, AWS_* and its profiles), which sign each request.
    case awsKeys

    /// The source of a login of which a destination says nothing, in a word; `nil`: a person knows it.
    package var word: String? {
        switch self {
        case .fields, .password: nil
        case .ssh: "ssh"
        case .awsKeys: "AWS"
        }
    }
}
