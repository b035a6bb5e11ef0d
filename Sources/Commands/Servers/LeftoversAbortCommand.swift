import CommandLine
import Configuration
import MartletKit

/// `martlet leftovers abort`.
struct LeftoversAbortCommand: EngineCommand {
    let context: CommandContext

    static let upload = Option(
        "upload", ValueSyntax<String>.text("UPLOAD-ID"), repeats: true, "take this upload away from the bucket")
    static let forget = Option.flag("forget", "say nothing to the servers: let it lie there and forget it")

    static let command = Command(
        "abort", "take away what uploads that are over have left",
        operands: [Operand(.node, .any)],
        groups: [
            OptionGroup("Which", [CommonOptions.all, LeftoversListCommand.bucket, upload]),
            OptionGroup("How", [forget]), CommonOptions.output,
        ])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        if let bucket = invocation.value(LeftoversListCommand.bucket) {
            return try await abortInBucket(bucket, invocation)
        }
        guard invocation.values(Self.upload).isEmpty else {
            throw .usage("leftovers abort: --upload without a bucket", "say where with --in s3://BUCKET/PREFIX")
        }
        var tasks: [TaskID] = []
        for node in invocation.operands(as: .node) {
            guard case .task(let task) = node else {
                throw .usage(
                    "leftovers abort: \(node) is no task", "give tasks such as t31; martlet leftovers lists them")
            }
            tasks.append(task)
        }
        let all = invocation.has(CommonOptions.all)
        guard all == tasks.isEmpty else {
            throw .usage(
                "leftovers abort: \(all ? "both IDs and --all are given" : "no task is named")", "give IDs, or --all")
        }
        guard try await context.queueToLookAt(invocation) else { return .done }
        if all {
            tasks = try await ask { engine throws(RequestError) in try await engine.leftovers() }
                .filter(\.canBeRemoved).map(\.task)
        }
        let wanted = tasks
        let forgets = invocation.has(Self.forget)
        let results = try await ask { engine throws(RequestError) in
            try await engine.abortLeftovers(of: wanted, forgets: forgets)
        }
        let words =
            forgets
            ? ResultWords(done: "is let lie there", already: "had nothing left there")
            : ResultWords(done: "has nothing left there", already: "had nothing left there")
        return context.tell(results, words, invocation, empty: "nothing is left at any server")
    }

    private func abortInBucket(_ url: String, _ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let named = invocation.values(Self.upload)
        guard !named.isEmpty, invocation.operands.isEmpty, !invocation.has(CommonOptions.all),
            !invocation.has(Self.forget)
        else {
            throw .usage(
                "leftovers abort: in a bucket each upload is named by its ID alone",
                "give --upload UPLOAD-ID; martlet leftovers list --in \(RawPath(url).displayed) lists them")
        }
        let found = try await context.bucketUploads(url, aborting: named, "leftovers abort")
        let uploads = found.uploads
        var status = ExitStatus.done
        for id in named {
            let upload = uploads.first { $0.uploadID == id }
            if let upload, invocation.has(CommonOptions.json) { console.json(upload) }
            switch upload?.result {
            case .done, .already:
                if !invocation.has(CommonOptions.json) { console.line("\(RawPath(id).displayed) taken away") }
            case .refused:
                console.note("martlet: \(RawPath(id).displayed): \(upload?.message ?? "refused")")
                status = .refused
            case nil:
                let more = found.isWhole ? "" : " among the first \(uploads.count): name a longer prefix"
                console.note(
                    "martlet: \(RawPath(id).displayed): there is no such upload below \(RawPath(url).displayed)\(more)")
                status = .noSuchObject
            }
        }
        return status
    }
}
