import CurlTransport
import LinuxSystem
import TransferModel

/// The authorities whose certificates a batch believes. One value: what was read of one file never counts for another.
enum Trust: Equatable {
    /// Those of the system.
    case system
    /// Those of a file (`--ca`) that is still to be read: nobody's until then.
    case unread(RawPath)
    /// Those that the file held when it was read; `nobody`: it was no file of certificates.
    /// - `isStale`: a server was not trusted since, or a person set something: the file may hold others by now.
    case read(RawPath, Authorities, at: Timestamp, isStale: Bool)

    init(in file: RawPath?) { self = file.map { .unread($0) } ?? .system }

    /// Time after which the file is read again, in case somebody has taken an authority out of it.
    private static let life = Duration.seconds(60)

    /// The file; `nil`: none.
    var path: RawPath? {
        switch self {
        case .system: nil
        case .unread(let path), .read(let path, _, _, _): path
        }
    }

    /// As libcurl gets them; `nil`: those of the system.
    var authorities: Authorities? {
        switch self {
        case .system: nil
        case .unread: .nobody
        case .read(_, let authorities, _, _): authorities
        }
    }

    /// The file that is to be read before the next request; `nil`: none.
    var pathToRead: RawPath? {
        switch self {
        case .unread(let path), .read(let path, _, _, isStale: true): path
        case .system, .read: nil
        }
    }

    var isUnread: Bool { if case .unread = self { true } else { false } }

    /// True when the file was read a while ago: it is read again beside what goes on.
    func isOld(at now: Timestamp) -> Bool {
        guard case .read(_, _, let time, _) = self else { return false }
        let age = now.since(time)
        return age < .zero || age >= Self.life
    }

    /// The batch trusts this file now; `nil`: the system. Another file than before is trusted only when it has been read.
    mutating func set(file: RawPath?) {
        if file != path { self = Trust(in: file) } else { doubt() }
    }

    /// The file may hold others by now.
    mutating func doubt() {
        if case .read(let path, let authorities, let time, _) = self {
            self = .read(path, authorities, at: time, isStale: true)
        }
    }

    /// Takes what was read of a file, where that is still the one.
    mutating func take(_ found: AuthoritiesReader.Found, of file: RawPath, at now: Timestamp) {
        guard file == path else { return }
        switch found {
        case .authorities(let authorities): self = .read(file, authorities, at: now, isStale: false)
        case .unusable:
            // The authorities that were read of this file before are trusted until it can be read again.
            if isUnread { self = .read(file, .nobody, at: now, isStale: true) } else { doubt() }
        case .notNow: break
        }
    }
}
