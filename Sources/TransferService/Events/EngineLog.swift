import Glibc
package import LinuxSystem
package import TransferModel
import Wording

/// The engine's log: `log/martletd.log`, one line an event, rotated by size; its newest lines also in memory. Lines of level debug, of which
/// a file that simply arrives has one, stand in memory alone unless a person wants them in the file: they would push out all others.
///
/// Confined to the service's loop. A disk that takes no more lines costs lines of the log and nothing else.
package final class EngineLog {
    private let directory: String
    /// Lines of level debug go into the file, too.
    package var keepsDetails = false
    private let now: () -> Timestamp
    private let sizeLimit: Int64
    private var file: OwnedDescriptor?
    private var size: Int64 = 0
    private var lines = NewestLines()
    /// Those of level debug: however many there are, the others stay.
    private var details = NewestLines()
    /// The number of the next line, of whatever level.
    package private(set) var next: Int64 = 1
    /// Called after each new line.
    package var onLine: ((LogLine) -> Void)?

    private static let name = "martletd.log"
    /// `martletd.log.1` is the newest of the old ones.
    private static let oldFiles = 3

    /// Opens the log in `directory`, which is made when missing, and reads the end of what is there.
    package init(
        directory: String, sizeLimit: Int64 = 1 << 20,
        now: @escaping () -> Timestamp = { Timestamp(milliseconds: WallClock.milliseconds) }
    ) {
        self.directory = directory
        self.sizeLimit = sizeLimit
        self.now = now
        _ = try? System.openOwnFolder(Array(directory.utf8))
        open()
        readEnd()
    }

    /// Throws when the log's folder or file is not ours: what is written there would be read, or moved, by somebody else.
    package static func check(directory: String) throws(Untrusted) {
        _ = try System.openOwnFolder(Array(directory.utf8))
        let file = Array("\(directory)/\(name)".utf8)
        _ = try System.openOwnFile(file, flags: O_RDWR | O_CREAT | O_APPEND, mayHaveNames: true)
    }

    /// Writes one line. The message is made harmless and cut to 2000 bytes here.
    package func write(
        _ level: LogLevel, _ message: String, batch: BatchID? = nil, task: TaskID? = nil, at: Timestamp? = nil
    ) {
        let harmless = RawPath(Array(message.utf8.prefix(2000))).displayed
        let line = LogLine(at: at ?? now(), level: level, batch: batch, task: task, message: harmless)
        keep(line)
        if level > .debug || keepsDetails { append(Array((line.text + "\n").utf8)) }
        onLine?(line)
    }

    /// The newest lines that a filter lets through, oldest first, or the first of those from number `after` on.
    /// - Returns: the lines, and the `after` to go on with.
    package func read(
        level: LogLevel, batch: BatchID?, task: TaskID?, after: Int64?, limit: Int
    ) -> (lines: [LogLine], next: Int64) {
        func isWanted(_ line: LogLine) -> Bool {
            line.level >= level && (batch == nil || line.batch == batch) && (task == nil || line.task == task)
        }
        let kept = level > .debug ? lines.all : NewestLines.merged(lines, details)
        guard let after else { return (kept.filter { isWanted($0.line) }.suffix(limit).map(\.line), next) }
        var found: [LogLine] = []
        for entry in kept where entry.number >= after && isWanted(entry.line) {
            if found.count == limit { return (found, entry.number) }
            found.append(entry.line)
        }
        return (found, next)
    }

    private func keep(_ line: LogLine) {
        if line.level > .debug { lines.keep(line, number: next) } else { details.keep(line, number: next) }
        next += 1
    }

    // MARK: The file

    private func path(_ suffix: String = "") -> [UInt8] { Array("\(directory)/\(Self.name)\(suffix)".utf8) }

    private func open() {
        file = try? System.openOwnFile(path(), flags: O_RDWR | O_CREAT | O_APPEND, mayHaveNames: true)
        size = file.flatMap { try? System.fstat($0.rawValue).size } ?? 0
    }

    /// A file that could not be opened, because no descriptor was left, say, is tried again with each line.
    private func append(_ bytes: [UInt8]) {
        if file == nil { open() }
        if size + Int64(bytes.count) > sizeLimit, size > 0 { rotate() }
        guard let file, (try? bytes.withUnsafeBytes({ try System.writeAll(file.rawValue, $0) })) != nil else { return }
        size += Int64(bytes.count)
    }

    /// Begins a new file. It is opened under a name of its own first: when that fails the old one goes on, and the next line tries again.
    private func rotate() {
        let flags = O_RDWR | O_CREAT | O_APPEND
        guard let new = try? System.openOwnFile(path(".new"), flags: flags, mayHaveNames: true) else { return }
        for number in stride(from: Self.oldFiles - 1, through: 1, by: -1) {
            try? System.rename(path(".\(number)"), to: path(".\(number + 1)"))
        }
        try? System.rename(path(), to: path(".1"))
        try? System.rename(path(".new"), to: path())
        file = new
        size = (try? System.fstat(new.rawValue).size) ?? 0
    }

    /// Reads the lines that an earlier engine wrote, so that `martlet log` tells about them too.
    private func readEnd() {
        guard let file, size > 0 else { return }
        let length = Int(min(size, 256 << 10))
        var bytes = [UInt8](repeating: 0, count: length)
        let start = size - Int64(length)
        guard
            let count = try? bytes.withUnsafeMutableBytes({
                try System.preadAll(file.rawValue, UnsafeMutableRawBufferPointer(rebasing: $0[...]), at: start)
            })
        else { return }
        let all = bytes[..<count].split(separator: UInt8(ascii: "\n"))
        // The first may be the end of a longer one.
        for line in start > 0 ? all.dropFirst() : all[...] {
            if let line = LogLine(text: String(decoding: line, as: UTF8.self)) { keep(line) }
        }
    }
}

extension LogLine {
    /// `2026-11-21T12:41:07.250Z info b7/t31 message`; `-` for no batch and task.
    var text: String {
        let subject = [batch.map { "\($0)" }, task.map { "\($0)" }].compactMap(\.self).joined(separator: "/")
        return "\(at) \(level.rawValue) \(subject.isEmpty ? "-" : subject) \(message)"
    }

    /// Reads what `text` writes; `nil` for anything else.
    init?(text: String) {
        let words = text.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard words.count == 4, let at = Timestamp(String(words[0])), let level = LogLevel(rawValue: String(words[1]))
        else { return nil }
        var batch: BatchID?
        var task: TaskID?
        for part in words[2].split(separator: "/") {
            switch NodeID(String(part)) {
            case .batch(let id): batch = id
            case .task(let id): task = id
            default: break
            }
        }
        self.init(at: at, level: level, batch: batch, task: task, message: String(words[3]))
    }
}

extension EngineLog {
    /// Writes what an event of the queue says to a person.
    package func write(_ event: TransferEvent) {
        let payload = event.payload
        let detail = payload.error.map { $0.message + $0.quoted } ?? payload.message
        func say(_ level: LogLevel, _ text: String) {
            write(level, detail.map { "\(text): \($0)" } ?? text, batch: event.batch, task: event.task, at: event.at)
        }
        // Times from now on need no clock and no zone.
        func again(_ time: Timestamp, _ now: Timestamp) -> String {
            let wait = time.since(now)
            return wait < .seconds(1) ? ", next try at once" : ", next try in \(WhySentence.span(wait))"
        }
        switch event.type {
        case .batchQueued: say(.info, "queued")
        case .batchScanned:
            say(
                .info,
                "all folders looked through" + (payload.filesTotal.map { $0 == 1 ? ", 1 file" : ", \($0) files" } ?? "")
            )
        case .batchFinished:
            let failed = payload.filesFailed ?? 0
            say(
                failed > 0 ? .warning : .info,
                "over" + (failed > 0 ? ", \(failed) \(failed == 1 ? "file" : "files") failed" : ""))
        case .taskCompleted: say(.debug, "completed")
        case .taskFailed: say(.error, "failed")
        case .taskCancelled: say(.debug, "cancelled")
        case .waiting:
            say(
                .warning,
                "waits for \((payload.waitReasons ?? []).words)"
                    + (payload.retryAt.map { again($0, event.at) } ?? ""))
        case .resumedAtOffset:
            say(
                .info,
                payload.offset == 0
                    ? "begins anew: the server has none of it" : "goes on at byte \(payload.offset ?? 0)")
        case .restarted: say(.warning, "starts again from zero")
        // Who did it is said in a line of its own.
        case .paused: say(.debug, "paused")
        case .resumed: say(.info, "resumed")
        case .responseReceived: say(.debug, "answer \(payload.status.map(String.init) ?? "received")")
        case .sessionIdle: say(.info, "session \(event.session?.rawValue ?? "") has nothing left to do")
        case .engineStarted: say(.info, "engine started")
        }
    }
}
