/// The credentials of a batch, kept in the secrets store until its last task is purged.
public struct TransferSecrets: Codable, Hashable, Sendable {
    public var user: String?
    public var password: String?
    /// A command whose output is the password, run by the engine each time it is needed.
    public var passwordCommand: String?
    /// Given header fields; any of them may be secret.
    public var headers: [HeaderField] = []
    /// Path of a netrc file, read each time.
    public var netrcFile: RawPath?
    public var s3: S3Keys?
    /// The place that `s3` are from; `nil`: nobody has said.
    public var s3Origin: S3KeysOrigin?
    /// The words of a program that prints keys of S3 (`credential_process` of an AWS profile): the engine runs it when those that it has are
    /// over.
    public var s3Command: [String]?
    /// The environment that `s3Command` was run with first, and is run with again; empty: what the engine has of its own.
    public var s3Environment: [String: String] = [:]
    /// Fields of a form beside the file's, in this order; any of them may be a token.
    public var formFields: [HeaderField] = []
    /// Proxies that want a user, by the variable's name; they count before those of the options.
    public var proxies: [String: String] = [:]
    public init() {}

    /// With what is given anew in its place; what is not given stays. A password, a command for it and a netrc file exclude each
    /// other: the new one counts. Of header and form fields those with a new one's name go.
    public func renewed(by new: TransferSecrets) -> TransferSecrets {
        var all = self
        all.user = new.user ?? user
        if new.password != nil || new.passwordCommand != nil || new.netrcFile != nil {
            // A netrc file tells the user, too.
            if new.netrcFile != nil { all.user = new.user }
            (all.password, all.passwordCommand, all.netrcFile) = (new.password, new.passwordCommand, new.netrcFile)
            // Beside keys it is for other servers.
            if new.netrcFile == nil || s3 == nil {
                (all.s3Origin, all.s3Command, all.s3Environment) = (s3 == nil ? nil : .typed, nil, [:])
            }
        }
        all.headers = Self.renewed(headers, by: new.headers) { $0.lowercased() }
        all.formFields = Self.renewed(formFields, by: new.formFields) { $0 }
        if let keys = s3, let password = new.password {
            all.s3 = S3Keys(accessKeyID: new.user ?? keys.accessKeyID, secretAccessKey: password)
        } else if let keys = s3, new.passwordCommand != nil {
            // From now on the command prints the secret key, of the same ID unless another one is named.
            all.user = new.user ?? keys.accessKeyID
            all.s3 = nil
        }
        if let keys = new.s3 {
            // Nothing else is asked for them from now on.
            (all.user, all.password, all.passwordCommand) = (nil, nil, nil)
            if s3 == nil { all.netrcFile = nil }
            (all.s3, all.s3Origin) = (keys, new.s3Origin ?? .typed)
            (all.s3Command, all.s3Environment) = (new.s3Command, new.s3Environment)
        }
        return all
    }

    private static func renewed(
        _ fields: [HeaderField], by new: [HeaderField], key: (String) -> String
    ) -> [HeaderField] {
        let names = Set(new.map { key($0.name) })
        return fields.filter { !names.contains(key($0.name)) } + new
    }

    /// The place that the keys are from, by the word of who gave them; an ID that a person has named counts as typed.
    package var keysOrigin: S3KeysOrigin? { s3 == nil && user != nil ? .typed : s3Origin }

    /// True when they open S3: keys, or an ID and a command that prints the secret key.
    package var opensS3: Bool { s3 != nil || (user != nil && passwordCommand != nil) }

    public var isEmpty: Bool {
        user == nil && password == nil && passwordCommand == nil && headers.isEmpty && netrcFile == nil && s3 == nil
            && formFields.isEmpty && proxies.isEmpty
    }
}

/// Keys that sign S3 requests.
public struct S3Keys: Codable, Hashable, Sendable {
    public var accessKeyID: String
    public var secretAccessKey: String
    /// The session token of temporary keys.
    public var sessionToken: String?
    /// When they are over, as far as it was told.
    public var expires: Timestamp?
    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        // An empty one would be signed and sent.
        self.sessionToken = sessionToken?.isEmpty == true ? nil : sessionToken
    }
}

// The fields that a client does not send have their defaults.
extension TransferSecrets {
    enum CodingKeys: String, CodingKey {
        case user, password, passwordCommand, headers, netrcFile, s3, s3Origin, s3Command, s3Environment, formFields,
            proxies
    }

    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        self.init()
        user = try object.decodeIfPresent(String.self, forKey: .user)
        password = try object.decodeIfPresent(String.self, forKey: .password)
        passwordCommand = try object.decodeIfPresent(String.self, forKey: .passwordCommand)
        headers = try object.decodeIfPresent([HeaderField].self, forKey: .headers) ?? []
        netrcFile = try object.decodeIfPresent(RawPath.self, forKey: .netrcFile)
        s3 = try object.decodeIfPresent(S3Keys.self, forKey: .s3)
        s3Origin = try object.decodeIfPresent(S3KeysOrigin.self, forKey: .s3Origin)
        s3Command = try object.decodeIfPresent([String].self, forKey: .s3Command)
        s3Environment = try object.decodeIfPresent([String: String].self, forKey: .s3Environment) ?? [:]
        formFields = try object.decodeIfPresent([HeaderField].self, forKey: .formFields) ?? []
        proxies = try object.decodeIfPresent([String: String].self, forKey: .proxies) ?? [:]
    }
}
