import FoundationEssentials

// The wire form of a request for a batch: what is left out has its default, so that a client in any language sends
// only what it means, and an older client is understood by a newer engine.

extension BatchRequest {
    // Not private: the encoding that is made in the type's own file uses it, and the compiler (6.3.1) stops on a private one.
    enum CodingKeys: String, CodingKey {
        case uuid, session, name, work, held, priority, options, secrets, destination, like
    }

    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            uuid: try object.decode(UUID.self, forKey: .uuid),
            session: try object.decodeIfPresent(SessionName.self, forKey: .session) ?? .default,
            name: try object.decodeIfPresent(BatchName.self, forKey: .name),
            work: try object.decode(Work.self, forKey: .work),
            held: try object.decodeIfPresent(Bool.self, forKey: .held) ?? false,
            priority: try object.decodeIfPresent(TransferPriority.self, forKey: .priority) ?? .normal,
            options: try object.decodeIfPresent(TransferOptions.self, forKey: .options) ?? TransferOptions(),
            secrets: try object.decodeIfPresent(TransferSecrets.self, forKey: .secrets) ?? TransferSecrets(),
            destination: try object.decodeIfPresent(String.self, forKey: .destination),
            like: try object.decodeIfPresent(BatchID.self, forKey: .like))
    }
}

extension BatchRequest.Work {
    private enum CodingKeys: String, CodingKey { case upload, to, download }

    /// `{"upload": [source…], "to": "https://…/"}` or `{"download": [source…]}`.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        if let sources = try object.decodeIfPresent([DownloadSource].self, forKey: .download) {
            self = .download(sources)
        } else {
            self = .upload(
                try object.decode([UploadSource].self, forKey: .upload), to: try object.decode(String.self, forKey: .to)
            )
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .upload(let sources, let destination):
            try object.encode(sources, forKey: .upload)
            try object.encode(destination, forKey: .to)
        case .download(let sources): try object.encode(sources, forKey: .download)
        }
    }
}

extension UploadSource.Placement {
    private enum CodingKeys: String, CodingKey { case named }

    /// `{"named": "photos"}`, `"contents"` or `"exactly"`.
    public init(from decoder: any Decoder) throws {
        if let text = try? decoder.singleValueContainer().decode(String.self) {
            switch text {
            case "contents": self = .contents
            case "exactly": self = .exactly
            default:
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "no such placement: \(text)"))
            }
            return
        }
        self = .named(try decoder.container(keyedBy: CodingKeys.self).decode(RawPath.self, forKey: .named))
    }

    public func encode(to encoder: any Encoder) throws {
        guard case .named(let name) = self else {
            var single = encoder.singleValueContainer()
            try single.encode(self == .contents ? "contents" : "exactly")
            return
        }
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encode(name, forKey: .named)
    }
}

extension TransferOptions {
    enum CodingKeys: String, CodingKey {
        case ifExists, ifChanged, verify, sha256, bytesPerSecond, limitOf, notBefore, giveUpAfterSeconds
        case requestTimeoutSeconds, include, exclude, followLinks, caFile, pin, insecure, umask, proxies
        case uploadBy, form, chunkBytes, sshCommand, s3
    }

    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        func given<Value: Decodable>(_ key: CodingKeys, else standard: Value) throws -> Value {
            try object.decodeIfPresent(Value.self, forKey: key) ?? standard
        }
        let standard = TransferOptions()
        self.init()
        ifExists = try given(.ifExists, else: standard.ifExists)
        ifChanged = try given(.ifChanged, else: standard.ifChanged)
        verify = try object.decodeIfPresent(VerificationWish.self, forKey: .verify)
        sha256 = try object.decodeIfPresent(String.self, forKey: .sha256)
        bytesPerSecond = try object.decodeIfPresent(Int64.self, forKey: .bytesPerSecond)
        limitOf = try object.decodeIfPresent(String.self, forKey: .limitOf)
        notBefore = try object.decodeIfPresent(Timestamp.self, forKey: .notBefore)
        giveUpAfterSeconds = try given(.giveUpAfterSeconds, else: standard.giveUpAfterSeconds)
        requestTimeoutSeconds = try given(.requestTimeoutSeconds, else: standard.requestTimeoutSeconds)
        include = try given(.include, else: standard.include)
        exclude = try given(.exclude, else: standard.exclude)
        followLinks = try given(.followLinks, else: standard.followLinks)
        caFile = try object.decodeIfPresent(RawPath.self, forKey: .caFile)
        pin = try object.decodeIfPresent(String.self, forKey: .pin)
        insecure = try given(.insecure, else: standard.insecure)
        umask = try given(.umask, else: standard.umask)
        proxies = try given(.proxies, else: standard.proxies)
        uploadBy = try object.decodeIfPresent(HTTPUploadProtocol.self, forKey: .uploadBy)
        form = try object.decodeIfPresent(UploadForm.self, forKey: .form)
        chunkBytes = try object.decodeIfPresent(Int64.self, forKey: .chunkBytes)
        sshCommand = try object.decodeIfPresent(String.self, forKey: .sshCommand)
        s3 = try object.decodeIfPresent(S3Place.self, forKey: .s3)
    }
}
