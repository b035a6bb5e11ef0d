import Glibc
import Testing
import TransferModel

/// A line of the table of protocols: what the tests of `Protocol…Tests.swift` run for each.
enum WireProtocol: String, CaseIterable, Sendable, CustomTestStringConvertible {
    /// tus to a server that nobody here wrote.
    case tus
    /// The same to another one, which takes each request whole into memory: in chunks.
    case tusInChunks
    /// The same to `martlet receive`.
    case tusToReceiver
    /// The draft of the IETF, to `martlet receive`.
    case ietf
    /// Its versions, each to a server that knows no other.
    case ietf8, ietf6, ietf5, ietf3
    /// OpenStack Swift's S3 interface.
    case s3
    /// OpenSSH.
    case sftp
    /// vsftpd, in the clear.
    case ftp
    /// vsftpd, with TLS from the first byte.
    case ftps
    /// ProFTPD, with explicit TLS.
    case ftpes
    /// Apache.
    case dav
    /// Chunks, as Nextcloud's manual has them.
    case nextcloud
    /// nginx.
    case put

    var testDescription: String { rawValue }

    /// All of them, or those that the variable WIRES names: `WIRES="tus s3"`.
    static let tested: [WireProtocol] = {
        guard let wanted = getenv("WIRES").map({ String(cString: $0) }) else { return allCases }
        return wanted.split(separator: " ").compactMap { WireProtocol(rawValue: String($0)) }
    }()

    /// The version of the draft that the scripted server knows.
    var interopVersion: Int? {
        switch self {
        case .ietf8: 8
        case .ietf6: 6
        case .ietf5: 5
        case .ietf3: 3
        default: nil
        }
    }

    /// What a kill may cost, beyond what its connections say besides the file.
    enum Waste {
        /// So many bytes of the file are sent again.
        case bytes(Int64)
        case wholeFile
    }

    var waste: Waste {
        switch self {
        case .s3, .nextcloud: .bytes(Int64(parallel) * Self.part)
        case .dav, .put: .wholeFile
        default: .bytes(1 << 20)
        }
    }

    /// Parts or chunks, and of other protocols connections, that one file has on its way at once.
    var parallel: Int {
        switch self {
        case .s3: 4
        case .nextcloud: 3
        default: 1
        }
    }

    /// The length of a part or chunk in these tests: as small as the servers allow.
    static let part: Int64 = 5 << 20
    /// The same of what is sent in chunks one after the other.
    static let chunk: Int64 = 1 << 20

    /// What is accepted is known while a file is under way, part by part; elsewhere the server is asked when it goes on.
    var hasParts: Bool { parallel > 1 || self == .tusInChunks }

    /// The next engine need not wait for what the one before had handed to the system: the server ends the connection before, or does not
    /// mind it. tuspyserver, asked for an upload that is still being written, stands still for all its clients, for 30 seconds; an FTP or SSH
    /// server goes on writing what is in the pipes.
    var takesOver: Bool {
        switch self {
        case .tus, .sftp, .ftp, .ftps, .ftpes: false
        default: true
        }
    }

    var resumes: Bool {
        if case .wholeFile = waste { false } else { true }
    }

    /// What frames and heads add to a file's bytes, in thousandths.
    var overhead: Int64 {
        switch self {
        case .sftp, .ftps, .ftpes: 2
        default: 1
        }
    }

    /// Names that are not UTF-8: XML and JSON cannot carry them, paths of bytes can.
    var carriesBytes: Bool {
        switch self {
        case .tus, .tusInChunks, .s3, .nextcloud: false
        default: true
        }
    }

    /// A rule that lets a file through with so many megabytes a second, over all its connections.
    func rate(_ megabytes: Int) -> String { rule("rate up \(megabytes * 1000 / parallel)k") }

    /// One of a rule's connections: over FTP, the one that carries the file.
    func rule(_ text: String) -> String {
        switch self {
        case .ftp, .ftps, .ftpes: text + " on=data"
        default: text
        }
    }
}
