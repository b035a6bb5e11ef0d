import Digests
import TestSupport
import TransferModel
import WireOperations

@testable import TransferProtocols

/// Files in memory behind SFTP operations, with the habits that servers in the wild have.
struct FakeSFTPServer {
    struct File: Equatable {
        var bytes: [UInt8]
        var modified: Int64
    }

    var files: [String: File] = [:]
    var folders: Set<String> = ["d"]
    /// Kept open by handle: the name it had when it was opened, for a rename does not disturb a handle.
    var open: [SFTPHandle: String] = [:]
    private var lastHandle: UInt64 = 0
    /// The server's clock, seconds.
    var now: Int64 = 5000

    // Habits.
    var features = SFTPFeatures() {
        // OpenSSH offers posix-rename.
        didSet { features.isOpenSSH = features.isOpenSSH && features.renamesOver }
    }
    /// Bytes that its line wants on their way.
    var lineWindow: Int64?
    var truncatesOnOpen = false
    var cannotRename = false
    /// Its file system has no hard links, by which it names what may replace nothing.
    var hasNoLinks = false
    /// Refuses writes that do not begin at zero in a file that was there when it was opened.
    var cannotResume = false
    /// Takes a file away before it is renamed.
    var eats = false
    var keepsTimes = true
    var tellsSizes = true
    /// A read tells no end of the file.
    var neverEnds = false
    /// Bytes that fit; more is refused with that status and text.
    var room = Int.max
    var fullText = "Failure"
    /// Operations by name that are refused.
    var refuses: [String: (SFTPStatus, String)] = [:]
    /// Ends of writes are lost at the server: so many bytes fewer than acknowledged.
    var loses = 0

    init() {
        features.renamesOver = true
        features.syncs = true
        features.isOpenSSH = true
        features.tellsFreeSpace = true
    }

    mutating func perform(_ exchange: Exchange, source: [UInt8]) -> SFTPEnd {
        var end = SFTPEnd(.done, features: features, at: noon)
        switch exchange {
        case .sftp(let operation): end.outcome = .answered(reply(operation, source, &end))
        case .sftpDigest(let handle, let size): end.outcome = digest(handle, size)
        case .http, .ftp: end.outcome = .answered(.refused(.unsupported, "no SFTP"))
        }
        return end
    }

    private func digest(_ handle: SFTPHandle, _ size: Int64) -> SFTPEnd.Outcome {
        guard let file = file(handle) else { return .answered(.refused(.failure, "Failure")) }
        if neverEnds || file.bytes.count > size { return .longer }
        return .digested(sha256(file.bytes))
    }

    private mutating func reply(_ operation: SFTPOperation, _ source: [UInt8], _ end: inout SFTPEnd) -> SFTPReply {
        if let (status, text) = refuses[operation.verb] { return .refused(status, text) }
        switch operation {
        case .openForWriting(let path):
            let name = path.displayed
            guard folders.contains(path.folder.displayed) else { return .refused(.noSuchFile, "No such file") }
            if files[name] == nil || truncatesOnOpen { files[name] = File(bytes: [], modified: now) }
            return opened(name)
        case .openForReading(let path):
            return files[path.displayed] == nil ? .refused(.noSuchFile, "No such file") : opened(path.displayed)
        case .status(let path):
            if folders.contains(path.displayed) {
                return .attributes(SFTPAttributes(size: 4096, modified: 1, isFolder: true))
            }
            return files[path.displayed].map { .attributes(attributes($0)) } ?? .refused(.noSuchFile, "No such file")
        case .handleStatus(let handle):
            return file(handle).map { .attributes(attributes($0)) } ?? .refused(.failure, "Failure")
        case .write(let handle, let range): return write(handle, range, source, &end)
        case .read(let handle, let from):
            guard let file = file(handle) else { return .refused(.failure, "Failure") }
            end.bytesWritten = max(0, Int64(file.bytes.count) - from)
        case .setSize(let handle, let size):
            guard let name = open[handle] else { return .refused(.failure, "Failure") }
            let kept = file(handle)?.bytes.prefix(Int(size)) ?? []
            files[name]?.bytes = Array(kept)
        case .setModified(let handle, let seconds):
            if keepsTimes, let name = open[handle] { files[name]?.modified = seconds }
        case .openFolder, .readFolder: return .refused(.unsupported, "no lists")
        case .sync: break
        case .close(let handle): open[handle] = nil
        case .rename(let old, let new, let replaces):
            if cannotRename { return .refused(.unsupported, "Operation unsupported") }
            if hasNoLinks, !replaces { return .refused(.failure, "Failure") }
            if eats { files[old.displayed] = nil }
            guard let file = files[old.displayed] else { return .refused(.noSuchFile, "No such file") }
            if folders.contains(new.displayed) { return .refused(.failure, "Failure") }
            if !replaces, files[new.displayed] != nil { return .refused(.failure, "Failure") }
            files[old.displayed] = nil
            files[new.displayed] = file
            for (handle, name) in open where name == old.displayed { open[handle] = new.displayed }
        case .remove(let path):
            if files.removeValue(forKey: path.displayed) == nil { return .refused(.noSuchFile, "No such file") }
        case .makeFolders(let path): folders.insert(path.displayed)
        case .freeSpace: return .freeSpace(room == Int.max ? 1 << 40 : 0)
        }
        return .done
    }

    private mutating func opened(_ name: String) -> SFTPReply {
        lastHandle += 1
        let handle = SFTPHandle(rawValue: lastHandle)
        open[handle] = name
        return .opened(handle)
    }

    private func file(_ handle: SFTPHandle) -> File? { open[handle].flatMap { files[$0] } }

    private func attributes(_ file: File) -> SFTPAttributes {
        SFTPAttributes(size: tellsSizes ? Int64(file.bytes.count) : nil, modified: file.modified)
    }

    private mutating func write(
        _ handle: SFTPHandle, _ range: Range<Int64>, _ source: [UInt8], _ end: inout SFTPEnd
    ) -> SFTPReply {
        guard let name = open[handle], var file = files[name] else {
            end.writtenThrough = range.lowerBound
            return .refused(.failure, "Failure")
        }
        if cannotResume, range.lowerBound > 0, Int64(file.bytes.count) <= range.lowerBound, !grown.contains(name) {
            end.writtenThrough = range.lowerBound
            return .refused(.unsupported, "no resume")
        }
        grown.insert(name)
        let last = min(Int(range.upperBound), room)
        if file.bytes.count < last { file.bytes += [UInt8](repeating: 0, count: last - file.bytes.count) }
        if last > Int(range.lowerBound) {
            file.bytes.replaceSubrange(Int(range.lowerBound)..<last, with: source[Int(range.lowerBound)..<last])
        }
        end.writtenThrough = Int64(max(last, Int(range.lowerBound)))
        end.lineWindow = lineWindow
        if loses > 0 {
            file.bytes.removeLast(loses)
            loses = 0
        }
        file.modified = now
        files[name] = file
        return last < Int(range.upperBound) ? .refused(.failure, fullText) : .done
    }

    /// Files that were written from their start in this connection.
    private var grown: Set<String> = []

    /// The connection is gone, and with it all handles.
    mutating func disconnect() {
        open = [:]
        grown = []
    }
}

private func sha256(_ bytes: [UInt8]) -> TransferDigest {
    TransferDigest(algorithm: "sha-256", value: DigestAlgorithm.sha256.digest(of: bytes).hex)
}

extension SFTPEnd {
    /// An operation that the server answered.
    init(_ reply: SFTPReply, bytesWritten: Int64 = 0, features: SFTPFeatures = SFTPFeatures(), at: Timestamp) {
        self.init(.answered(reply), bytesWritten: bytesWritten, features: features, at: at)
    }
}

extension SFTPOperation {
    /// One word for it.
    var verb: String { String("\(self)".prefix { $0 != "(" }) }
}

/// An attempt after the other of one upload, played against a server.
struct SFTPStory {
    var server = FakeSFTPServer()
    var source: [UInt8]
    var subject: UploadSubject
    var facts = HostFacts()
    var resume: SFTPResumePoint?
    /// What was asked and said, in words; the temporary file is `part`.
    var log: [String] = []
    /// As `log`, with the operations and what is done here before them alone.
    var order: [String] = []
    /// After so many operations of an attempt the connection breaks; `true`: the one on which it breaks was still done.
    var cut: (after: Int, isDone: Bool)?
    /// The operation at which the connection breaks, by its name and how often it was asked; it is not done.
    var cutOn: (verb: String, time: Int)?
    /// The operation, by its name, during which the person pauses: the server does it, and nobody hears its answer.
    var pausedAt: String?
    /// Operations by name, of which so many get lost on their way while the line holds.
    var losing: [String: Int] = [:]
    /// Happens at the server when the rename is asked for.
    var appears: FakeSFTPServer.File?
    /// Somebody puts another file in the target's place right after this operation, by its name.
    var replaces: (after: String, FakeSFTPServer.File)?
    /// Bytes that were sent.
    var sent: Int64 = 0
    /// The error with which the last attempt failed.
    private(set) var lastError: TransferError?
    /// What the last attempt left and had told nobody of.
    var remains: SFTPResumePoint?
    /// What the server has not removed, at the end of the last attempt.
    var unremoved: [SFTPResumePoint] = []

    init(_ count: Int, ifExists: ExistingFilePolicy = .fail, modified: Int64 = 1234) {
        source = pattern(count)
        subject = UploadSubject(
            name: RawPath("f"), size: Int64(count), modifiedNanoseconds: modified * 1_000_000_000 + 999,
            ifExists: ifExists,
            token: "0123456789abcdef0123456789abcdef")
    }

    static let part = "d/.f.01234567.martlet-part"

    /// Plays one attempt to its end, and gives back its last word.
    @discardableResult
    mutating func attempt() -> String {
        (log, order) = ([], [])
        sent = 0
        var machine = SFTPUpload(
            SFTPUploadPlan(host: "h", path: RawPath("d/f"), subject: subject, facts: facts, resume: resume))
        var actions = machine.handle(.began(at: noon))
        var count = 0
        var (isCut, matches) = (false, 0)
        while !actions.isEmpty {
            var ends: [(ExchangeID, SFTPEnd)] = []
            var abandoned = Set<ExchangeID>()
            var digest: TransferDigest?
            for action in actions {
                switch action {
                case .perform(let id, let exchange):
                    count += 1
                    log.append(Self.word(exchange))
                    order.append(Self.word(exchange))
                    if case .sftp(let operation) = exchange, let cutOn, operation.verb == cutOn.verb {
                        matches += 1
                        if matches == cutOn.time { isCut = true }
                    }
                    if let cut, count > cut.after || count == cut.after && !cut.isDone { isCut = true }
                    if isCut {
                        ends.append((id, SFTPEnd(.failed(.network(lost)), writtenThrough: start(exchange), at: noon)))
                        continue
                    }
                    if case .sftp(let operation) = exchange, let left = losing[operation.verb], left > 0 {
                        losing[operation.verb] = left - 1
                        ends.append((id, SFTPEnd(.failed(.network(lost)), features: server.features, at: noon)))
                        continue
                    }
                    if case .sftp(.write(_, let range)) = exchange { sent += range.upperBound - range.lowerBound }
                    if case .sftp(.rename) = exchange, let file = appears {
                        server.files["d/f"] = file
                        appears = nil
                    }
                    let end = server.perform(exchange, source: source)
                    if case .sftp(let operation) = exchange, let (after, file) = replaces, operation.verb == after {
                        server.files["d/f"] = file
                        replaces = nil
                    }
                    if case .sftp(let operation) = exchange, operation.verb == pausedAt {
                        server.disconnect()
                        remains = machine.remains?.content(SFTPResumePoint.self)
                        return "paused"
                    }
                    if let cut, count == cut.after {
                        ends.append((id, SFTPEnd(.failed(.network(lost)), writtenThrough: start(exchange), at: noon)))
                    } else {
                        ends.append((id, end))
                    }
                case .abandon(let id): abandoned.insert(id)
                // As the queue has it.
                case .accepted(let bytes), .resumed(at: let bytes):
                    subject.confirmed = bytes
                    log += words([action])
                case .startOver:
                    subject.confirmed = 0
                    log += words([action])
                case .persist(let point):
                    resume = point.content(SFTPResumePoint.self)
                    // As the engine has it: the attempts that follow know what is ours.
                    if let own = point.ownVersion, subject.ifExists != .replace { subject.own = own }
                    log.append("persist")
                case .digestSource: digest = sha256(source)
                case .learned(let news):
                    facts = facts.merged(with: news)
                    log += words([action])
                case .fail(let error):
                    lastError = error
                    log += words([action])
                case .compareSource: order.append("compare")
                case .claimName: order.append("claim")
                default: log += words([action])
                }
            }
            actions = []
            for (id, end) in ends where !abandoned.contains(id) {
                let more = machine.handle(.sftpEnded(id, end))
                for case .abandon(let id) in more { abandoned.insert(id) }
                actions += more
            }
            if let digest { actions += machine.handle(.digested(digest)) }
        }
        server.disconnect()
        remains = machine.remains?.content(SFTPResumePoint.self)
        unremoved = machine.unremoved.compactMap { $0.content(SFTPResumePoint.self) }
        return log.last ?? ""
    }

    private func start(_ exchange: Exchange) -> Int64? {
        if case .sftp(.write(_, let range)) = exchange { range.lowerBound } else { nil }
    }

    /// The target has every byte of the source, and nothing else of ours is there.
    var isPublished: Bool { server.files["d/f"]?.bytes == source && server.files.count == 1 }

    static func word(_ exchange: Exchange) -> String {
        switch exchange {
        case .sftp(let operation): word(operation)
        case .sftpDigest: "read all"
        case .http, .ftp: "no SFTP"
        }
    }

    private static func word(_ operation: SFTPOperation) -> String {
        func name(_ path: RawPath) -> String {
            switch path.displayed {
            case "d/f": "target"
            case let text where text.hasSuffix(".martlet-part"): text == part ? "part" : "part2"
            case let text: text
            }
        }
        return switch operation {
        case .openForWriting(let path): "open \(name(path))"
        case .openFolder(let path): "openFolder \(name(path))"
        case .readFolder: "readFolder"
        case .openForReading(let path): "read \(name(path))"
        case .status(let path): "status \(name(path))"
        case .handleStatus: "size"
        case .write(_, let range): "write \(range)"
        case .read(_, let from): "read from \(from)"
        case .setSize(_, let size): "cut \(size)"
        case .setModified(_, let seconds): "time \(seconds)"
        case .sync: "sync"
        case .close: "close"
        case .rename(let old, let new, let replaces): "\(replaces ? "replace" : "rename") \(name(old)) \(name(new))"
        case .remove(let path): "remove \(name(path))"
        case .makeFolders(let path): "folders \(path.displayed)"
        case .freeSpace(let path): "space \(path.displayed)"
        }
    }
}
