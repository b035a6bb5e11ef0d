import Configuration
import DisplayText
import MartletKit

/// A user's order of a transfer: shown in the review, queued, and written as a command.
struct AddOrder: Hashable, Sendable {
    enum Work: Hashable, Sendable {
        /// Absolute paths.
        case upload([[UInt8]], to: String)
        case download([String], into: [UInt8])
    }

    enum Start: Hashable, Sendable {
        case now, held
        /// Not before this time, in the person's words.
        case at(String)
    }

    var work: Work
    /// Empty: made from the sources.
    var name = ""
    /// Before all other batches, once it is queued.
    var isFirst = false
    /// `nil`: as the configured server says, else `fail`.
    var ifExists: ExistingFilePolicy?
    /// `nil`: as the configured server says, else the best that the server offers.
    var verify: VerificationWish?
    var followLinks = false
    /// Shell patterns.
    var include: [String] = []
    var exclude: [String] = []
    /// Bytes a second; `nil`: as the configured server says, else unlimited.
    var limit: RateLimit?
    var start = Start.now
    var priority = TransferPriority.normal
    /// The password of the user that the URL names; never shown, and in no command.
    var password: String?

    /// The upload that is repeated: options not set here stay as they were there.
    var repeated: RepeatedUpload?
    /// The batch that is cancelled when this one is queued.
    var replaced: BatchID?

    init(_ work: Work) { self.work = work }

    /// The words of the command that queues the same.
    var words: [ShellWord] {
        var words: [ShellWord] = ["martlet"]
        func option(_ name: String, _ value: String) { words += [ShellWord(name), ShellWord(value)] }
        switch work {
        case .upload: words.append(repeated == nil ? "upload" : "again")
        case .download: words.append("download")
        }
        if !name.isEmpty { option("--name", name) }
        if let ifExists { option("--if-exists", ifExists.rawValue) }
        if let verify { option("--verify", verify.rawValue) }
        if followLinks, repeated?.order.options.followLinks != true { words.append("--follow-links") }
        for pattern in patterns.include { option("--include", pattern) }
        for pattern in patterns.exclude { option("--exclude", pattern) }
        if let limit { option("--limit", limit.written) }
        if priority != repeated?.order.priority ?? .normal { option("--priority", priority.rawValue) }
        if isFirst { words.append("--first") }
        switch start {
        case .now: break
        case .held: words.append("--hold")
        case .at(let time): option("--not-before", time)
        }
        switch work {
        case .upload(let sources, let destination):
            words += repeated.map { [ShellWord($0.batch.description)] } ?? sources.map { ShellWord(path: $0) }
            words.append(ShellWord(TransferURL.withoutPassword(destination)))
        case .download(let urls, let folder):
            words += urls.map { ShellWord(TransferURL.withoutPassword($0)) }
            let slash: [UInt8] = folder.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]
            words.append(ShellWord(path: folder + slash))
        }
        return words
    }

    /// The name patterns that the command must give: those of the repeated batch hold unless others are given.
    private var patterns: (include: [String], exclude: [String]) {
        guard let options = repeated?.order.options else { return (include, exclude) }
        if (include, exclude) == (options.include, options.exclude) { return ([], []) }
        return include.isEmpty && exclude.isEmpty ? (["*"], []) : (include, exclude)
    }

    /// The command that queues the same, safe to paste into a shell.
    /// - Parameter home: is written as `~`.
    func command(home: [UInt8]) -> [UInt8] {
        Array(words.map { $0.quoted(home: home) }.joined(separator: [0x20]))
    }
}

extension AddOrder.Work {
    /// The default name of the batch, made of the sources as the engine makes it.
    var proposedName: String {
        let (first, count) =
            switch self {
            case .upload(let paths, _): (paths.first.map { RawPath($0).lastComponent.displayed } ?? "", paths.count)
            case .download(let urls, _): (Self.fileName(urls.first ?? ""), urls.count)
            }
        return first.isEmpty || count == 1 ? first : "\(first) and \(count - 1) more"
    }

    /// Empty where the server may well say another.
    private static func fileName(_ url: String) -> String {
        guard let start = url.firstRange(of: "://")?.upperBound else { return "" }
        let path = url[start...].prefix { $0 != "?" && $0 != "#" }
        guard let slash = path.lastIndex(of: "/"), !path.contains("%") else { return "" }
        return String(path[path.index(after: slash)...])
    }
}
