import TransferModel

/// A folder at a server that the person sends files to, and how.
struct Destination {
    let url: String
    /// The server, by its disk's name.
    let host: String
    var uploadBy: HTTPUploadProtocol?
    /// A form around the file.
    var form: UploadForm?
    var s3: S3Place?
    /// Files that are worth several pieces of 5 MiB make sense there.
    var takesPieces = false

    init(_ url: String, at host: String, by uploadBy: HTTPUploadProtocol? = nil) {
        self.url = url
        self.host = host
        self.uploadBy = uploadBy
    }

    /// The folder, as a request names it.
    var path: String { String(url.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" }) }

    func set(_ options: inout TransferOptions) {
        options.uploadBy = uploadBy
        options.form = form
        options.s3 = s3
        if takesPieces { options.chunkBytes = 5 << 20 }
    }

    /// The login with a server's key.
    func secrets(_ key: String?) -> TransferSecrets {
        var secrets = TransferSecrets()
        if s3 != nil {
            secrets.s3 = S3Keys(accessKeyID: key ?? "anybody", secretAccessKey: "secret")
        } else if let key {
            secrets.headers = [HeaderField("Authorization", "Bearer \(key)")]
        }
        return secrets
    }
}
