import CommandLine
import Configuration
import LinuxSystem
import MartletKit

/// `martlet download`.
struct DownloadCommand: QueueingCommand {
    let context: CommandContext

    static let command = Command(
        "download", "queue a batch of downloads",
        details: [
            "The last operand is a directory that exists, or a path that ends in /; each file gets the name that the server or the URL "
                + "gives. With one URL it may be the file's path instead.",
            "Downloads leave 64 MiB of the disk free, or 1 % of a small one, and wait while there is no more room than that. One that "
                + "stands half way waits, too, while its folder is away, with a disk that is not mounted.",
        ],
        operands: [
            Operand(ValueSyntax<String>.url("URL"), .oneOrMore),
            Operand(ValueSyntax<[UInt8]>.path("DIR|FILE", .files)),
        ],
        groups: QueueOptions.download,
        examples: [
            .init(line: "martlet download https://example.org/big.iso ~/Downloads/", effect: "Fetch a file")
        ])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let request = try downloadRequest(invocation)
        return try await queue(request, invocation)
    }

    private func downloadRequest(_ invocation: Invocation) throws(CommandFailure) -> BatchRequest {
        try QueueOptions.refuseUnbuilt(invocation.value(QueueOptions.ifExists), invocation)
        // The command has at least two operands, or it would have been refused.
        let target = invocation.operands[invocation.operands.count - 1]
        var words: [String] = []
        for word in invocation.operands.dropLast() {
            guard let text = word.text else { throw .usage("download: a URL is not UTF-8", "percent-encode it") }
            words.append(text)
        }
        if invocation.has(QueueOptions.sha256), words.count > 1 {
            throw .usage("download: --sha256 is one file's digest", "queue each URL by itself")
        }
        let book = context.destinationBook()
        try refuseServer(target, book)
        let (directory, name) = try place(of: target, count: words.count)
        let plan: DownloadPlan
        do throws(QueueingFault) {
            plan = try DownloadPlan(words, into: directory, as: name, destinations: book)
        } catch {
            throw CommandFailure(error, command: "download")
        }
        let destination = plan.place?.destination
        var defaults = book.options(of: destination)
        (defaults.uploadBy, defaults.form) = (nil, nil)
        var request = BatchRequest(.download(plan.sources), invocation, surroundings, defaults: defaults)
        request.secrets = try TransferSecrets(
            invocation, urls: plan.urls, command: "download", surroundings,
            defaults: book.secrets(of: destination), isKept: destination?.login == .kept)
        if let place = plan.loginPlace { try complete(&request, book, place, invocation) }
        return request
    }

    /// Refuses a URL or NAME:path as the last operand, unless a local file has that name.
    private func refuseServer(_ target: Argument, _ book: DestinationBook) throws(CommandFailure) {
        let path = SourcePath.absolute(target.bytes, from: surroundings.currentDirectory)
        guard let text = target.text, (try? System.stat(path.bytes)) == nil else { return }
        let isNamed = (try? book.place(text, "URL"))?.destination != nil
        guard isNamed || text.firstRange(of: "://") != nil else { return }
        throw .usage(
            "download: the last operand is a local directory or file, and \(target.shown) is at a server",
            "add a directory at the end, such as .")
    }

    /// The folder, and the file's name when the operand is no directory.
    private func place(
        of target: Argument, count: Int
    ) throws(CommandFailure) -> (directory: RawPath, name: RawPath?) {
        let path = SourcePath.absolute(target.bytes, from: surroundings.currentDirectory)
        let kind = (try? System.stat(path.bytes))?.kind
        let ending = RawPath(target.bytes).lastComponent.text
        if kind == .directory { return (path, nil) }
        if target.bytes.last == UInt8(ascii: "/") || ending == "." || ending == ".." {
            guard kind == nil else {
                throw .usage("download: \(RawPath(target.bytes).displayed) is not a directory", "give another one")
            }
            return (path, nil)
        }
        guard count == 1 else {
            throw .usage(
                "download: several URLs need a directory, and \(target.shown) is none",
                "end it in a slash to have it made")
        }
        let directory = path.parent ?? RawPath("/")
        guard (try? System.stat(directory.bytes))?.kind == .directory else {
            // A URL in the wrong place is shown as one: it may have a password in it.
            let isAddress = target.text.map { ShownAddress.of($0) != $0 } ?? false
            let shown = isAddress ? "for \(target.shown)" : directory.displayed
            throw .usage("download: there is no directory \(shown)", "make it first")
        }
        return (directory, path.lastComponent)
    }
}
