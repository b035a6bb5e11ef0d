public import FoundationEssentials

/// A client's request to queue one batch, in one transaction, or nothing.
public struct BatchRequest: Codable, Hashable, Sendable {
    /// Made by the client, so that asking again after a lost answer finds the same batch.
    public var uuid: UUID
    public var session: SessionName
    /// `nil`: made from the sources.
    public var name: BatchName?
    public var work: Work
    /// Queued, but `created` until `resume`.
    public var held: Bool
    public var priority: TransferPriority
    public var options: TransferOptions
    /// Kept in the secrets store, never in the queue.
    public var secrets: TransferSecrets
    /// A configured server whose login the engine keeps: it is added to `secrets` where these say nothing.
    public var destination: String?
    /// A batch that this one does again: its login is added to `secrets` where they say nothing, if this goes to the same server.
    public var like: BatchID?

    public enum Work: Codable, Hashable, Sendable {
        /// `to` is the destination's URL without user info; it ends in `/` unless there is exactly one source and it is `.exactly`.
        case upload([UploadSource], to: String)
        case download([DownloadSource])
    }

    public init(
        uuid: UUID = UUID(), session: SessionName = .default, name: BatchName? = nil, work: Work, held: Bool = false,
        priority: TransferPriority = .normal, options: TransferOptions = TransferOptions(),
        secrets: TransferSecrets = TransferSecrets(), destination: String? = nil, like: BatchID? = nil
    ) {
        self.destination = destination
        self.like = like
        self.uuid = uuid
        self.session = session
        self.name = name
        self.work = work
        self.held = held
        self.priority = priority
        self.options = options
        self.secrets = secrets
    }
}

/// A file or directory to upload.
public struct UploadSource: Codable, Hashable, Sendable {
    /// Absolute.
    public var path: RawPath
    public var placement: Placement

    public enum Placement: Codable, Hashable, Sendable {
        /// Below the destination under its own base name.
        case named(RawPath)
        /// A directory's contents alone (`DIR/.`).
        case contents
        /// A single file under exactly the destination's URL.
        case exactly
    }

    public init(path: RawPath, placement: Placement) {
        self.path = path
        self.placement = placement
    }
}

/// A URL to download.
public struct DownloadSource: Codable, Hashable, Sendable {
    /// Without user info. Its query may be secret: the queue stores the URL without it.
    public var url: String
    /// The absolute path of the folder it goes into.
    public var directory: RawPath
    /// The file's name; `nil`: from the server's Content-Disposition, else the URL's last segment.
    public var fileName: RawPath?

    public init(url: String, directory: RawPath, fileName: RawPath?) {
        self.url = url
        self.directory = directory
        self.fileName = fileName
    }
}

/// The action when the destination has a file of that name.
public enum ExistingFilePolicy: String, Codable, Sendable, CaseIterable {
    case fail, skip, replace, rename, resume

    /// Those that work; help and completions name no others, and the others are refused by name.
    package static let built: [ExistingFilePolicy] = [.fail, .skip, .replace]
}

/// The action when the source changed after it was queued.
public enum ChangedSourcePolicy: String, Codable, Sendable, CaseIterable {
    case restart, fail
}

/// The check that a finished transfer is to get.
public enum VerificationWish: String, Codable, Sendable, CaseIterable {
    case none, size, digest
}

/// Options of a batch, as the queue stores them. Nothing secret.
public struct TransferOptions: Codable, Hashable, Sendable {
    public var ifExists: ExistingFilePolicy = .fail
    public var ifChanged: ChangedSourcePolicy = .restart
    /// `nil`: the best that the server offers, and at least size.
    public var verify: VerificationWish?
    /// The expected digest of a download of one file: lower-case hexadecimal.
    public var sha256: String?
    /// Bytes a second for the whole batch.
    public var bytesPerSecond: Int64?
    /// The configured server whose limit `bytesPerSecond` is: batches of the same name have it together, until one gets another. `nil`: it
    /// is the batch's own.
    public var limitOf: String?
    public var notBefore: Timestamp?
    /// Seconds without progress after which a task fails as `gaveUp`. Default 14 days.
    public var giveUpAfterSeconds: Int64 = 14 * 86_400
    /// Seconds without a byte after which an attempt is broken off.
    public var requestTimeoutSeconds: Int64 = 60
    /// Shell patterns (fnmatch) over the path below the source, and over the base name; exclude wins.
    public var include: [String] = []
    public var exclude: [String] = []
    public var followLinks: Bool = false
    public var caFile: RawPath?
    /// Bytes of the largest such file: libcurl takes no more.
    package static let largestCAFile = 8_000_000
    /// `sha256//…` of the server's public key, as `curl --pinnedpubkey`.
    public var pin: String?
    public var insecure: Bool = false
    /// For downloads.
    public var umask: UInt32 = 0o022
    /// `http_proxy`, `https_proxy`, `no_proxy`, `all_proxy` of the client that queued the batch. Those that name a user are
    /// moved to `TransferSecrets.proxies` when it is queued.
    public var proxies: [String: String] = [:]
    /// The protocol of uploads to `http(s)://`, chosen by hand; `nil`: the host is asked once.
    public var uploadBy: HTTPUploadProtocol?
    /// The form of uploads by POST and form.
    public var form: UploadForm?
    /// Bytes of one part or request, where the protocol has such; `nil`: its own rule.
    public var chunkBytes: Int64?
    /// Instead of `ssh`, with its arguments, split as a shell does.
    public var sshCommand: String?
    /// The service and region of S3 buckets.
    public var s3: S3Place?
    public init() {}
}

/// The protocol by which files go to an HTTP server.
public enum HTTPUploadProtocol: String, Codable, Sendable, CaseIterable {
    case put, post, form, tus, ietf
}

extension TransferOptions {
    /// False when files go by POST, where nobody knows what is there.
    package var heedsExistingFiles: Bool { form == nil && uploadBy != .post && uploadBy != .form }
}

/// The form that each file goes in; its other fields, which may be tokens, are in `TransferSecrets.formFields`.
public struct UploadForm: Codable, Hashable, Sendable {
    /// Name of the field with the file. Default `file`.
    public var fileField: String = "file"
    public init(fileField: String = "file") { self.fileField = fileField }
}

/// An S3 service that is not told by its bucket alone.
public struct S3Place: Codable, Hashable, Sendable {
    /// `http(s)://host[:port]`; `nil`: AWS. With one, buckets are in the path.
    public var endpoint: String?
    /// `nil`: `us-east-1`, or where the server says.
    public var region: String?
    public init(endpoint: String? = nil, region: String? = nil) {
        self.endpoint = endpoint
        self.region = region
    }
}
