import Glibc
import Testing
import TransferModel

/// A line of the table of protocols: what the tests of `Protocol…Tests.swift` run for each.
enum WireProtocol: String, CaseIterable, Sendable, CustomTestStringConvertible {
    /// tus to a server that nobody here wrote.
    case tus
    /// The same to `martlet receive`.
    case tusToReceiver
    /// The draft of the IETF, to `martlet receive`.
    case ietf
    /// OpenStack Swift's S3 interface.
    case s3
    /// OpenSSH.
    case sftp
    /// vsftpd, in the clear.
    case ftp
    /// ProFTPD, with explicit TLS.
    case ftpes
    /// Apache.
    case dav
    /// nginx.
    case put

    var testDescription: String { rawValue }

    /// All of them, or those that the variable WIRES names: `WIRES="tus s3"`.
    static let tested: [WireProtocol] = {
        guard let wanted = getenv("WIRES").map({ String(cString: $0) }) else { return allCases }
        return wanted.split(separator: " ").compactMap { WireProtocol(rawValue: String($0)) }
    }()

    /// What a kill may cost, beyond what its connections say besides the file.
    enum Waste {
        /// So many bytes of the file are sent again.
        case bytes(Int64)
        case wholeFile
    }

    var waste: Waste {
        switch self {
        case .tus, .tusToReceiver, .ietf, .sftp, .ftp, .ftpes: .bytes(1 << 20)
        // Four parts of 8 MiB are on their way at once.
        case .s3: .bytes(4 * 8 << 20)
        case .dav, .put: .wholeFile
        }
    }

    var resumes: Bool {
        if case .wholeFile = waste { false } else { true }
    }

    /// What frames and heads add to a file's bytes, in thousandths.
    var overhead: Int64 {
        switch self {
        case .sftp, .ftpes: 2
        default: 1
        }
    }

    /// Names that are not UTF-8: XML and JSON cannot carry them, paths of bytes can.
    var carriesBytes: Bool {
        switch self {
        case .tus, .s3: false
        case .tusToReceiver, .ietf, .sftp, .ftp, .ftpes, .dav, .put: true
        }
    }

    /// A file that is large for this server.
    var large: Int {
        switch self {
        // Python, and what has to begin again.
        case .s3, .dav, .put: 100_000_000
        default: 300_000_000
        }
    }

    /// One of a rule's connections: over FTP, the one that carries the file.
    func rule(_ text: String) -> String {
        switch self {
        case .ftp, .ftpes: text + " on=data"
        default: text
        }
    }
}
