// Header fields that Martlet writes itself. A given one beside them would make another request of it: a part of a file would pass for
// the whole of it, or other bytes would arrive. They are refused where they are given; batches that were queued with one go on.

extension HeaderField {
    /// The reason why it cannot be given, and what to do instead; `nil`: it is the person's to choose.
    package var ownership: (what: String, remedy: String)? {
        remedy.map { (what: "Martlet writes the header field \(name) itself", remedy: $0) }
    }

    private var remedy: String? {
        switch name.lowercased() {
        case "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection", "te", "trailer",
            "upgrade", "expect":
            "leave it out, each request has its own"
        case "range", "if-range", "content-range":
            "leave it out, Martlet asks for the bytes that are missing"
        case "accept-encoding":
            "leave it out, a file is stored as it is and not in a coding of the server's"
        case "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "overwrite":
            "say with --if-exists what becomes of a file that is there"
        case "want-repr-digest":
            "ask for the digest with --verify digest"
        case "x-http-method-override":
            "choose with --method or --protocol how the file is sent"
        case "upload-offset", "upload-length", "upload-defer-length", "upload-metadata", "upload-concat",
            "upload-checksum", "upload-complete", "upload-incomplete", "upload-draft-interop-version", "upload-limit",
            "upload-expires", "tus-resumable", "tus-version", "tus-extension", "tus-max-size",
            "tus-checksum-algorithm":
            "leave it out, and choose the protocol with --protocol"
        case "destination", "depth":
            "leave it out, and name the place as DEST or URL"
        case "oc-checksum", "oc-total-length", "x-oc-mtime", "x-hash", "x-amz-meta-mtime",
            "x-amz-meta-martlet-token":
            "leave it out, each file has its own"
        default: nil
        }
    }
}

extension TransferSecrets {
    /// The first of the header fields that cannot be given.
    package var ownedField: (what: String, remedy: String)? { headers.lazy.compactMap { $0.ownership }.first }

    /// The fault of what is given just now: `refusal`, or a header field that Martlet writes itself.
    package var givenRefusal: String? { refusal ?? ownedField.map { "\($0.what): \($0.remedy)" } }
}
