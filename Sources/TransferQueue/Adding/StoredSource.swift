import TransferModel

/// The rule by which a source gets its place at the other end, as it is stored.
enum StoredPlacement: Int64 {
    case named = 0
    case contents = 1
    case exactly = 2
    /// Not a source but a directory that downloads go into.
    case downloads = 3
}

/// Progress of the walk of a source, as it is stored. Higher numbers are of walks that a cancel stopped (`WalkStore+Stopped`).
enum SourceProgress: Int64 {
    case new = 0
    case walking = 1
    case done = 2
}

extension UploadSource.Placement {
    /// As it is stored, with the name of a source that has one.
    init(stored: Int64, name: [UInt8]) {
        switch StoredPlacement(rawValue: stored) {
        case .contents, .downloads, nil: self = .contents
        case .exactly: self = .exactly
        case .named: self = .named(RawPath(name))
        }
    }
}
