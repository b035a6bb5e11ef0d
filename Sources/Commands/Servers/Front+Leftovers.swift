import CommandLine
import Configuration
import MartletKit

/// Options of `leftovers`.
enum LeftoverOptions {
    static let bucket = Option(
        "in", ValueSyntax<String>.text("s3://BUCKET/PREFIX"),
        "ask the service which uploads were begun there and not finished, by whomever; keys and endpoint as for upload, and "
            + "NAME: or NAME:PATH is a configured destination")
    static let upload = Option(
        "upload", ValueSyntax<String>.text("UPLOAD-ID"), repeats: true, "take this upload away from the bucket")
    static let forget = Option.flag("forget", "say nothing to the servers: let it lie there and forget it")
}

extension Front {
    func listLeftovers(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        if let bucket = invocation.value(LeftoverOptions.bucket) { return try await listBucket(bucket, invocation) }
        guard try await queueToLookAt(invocation) else { return .done }
        let leftovers = try await ask { engine throws(RequestError) in try await engine.leftovers() }
        if invocation.has(CommonOptions.json) {
            for leftover in leftovers { console.json(leftover) }
            return .done
        }
        if leftovers.isEmpty {
            console.note("nothing is left at any server")
            return .done
        }
        let table = TextTable(
            columns: [
                .init(title: "ID", width: 7), .init(title: "By", width: 9), .init(title: "State", width: 9),
            ], lastTitle: "Would become", width: console.outputIsTerminal ? console.width : nil)
        console.line(table.header)
        for leftover in leftovers {
            console.line(
                table.row(
                    [leftover.task.description, leftover.protocol, leftover.state.rawValue], leftover.destination))
        }
        return .done
    }

    func abortLeftovers(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        if let bucket = invocation.value(LeftoverOptions.bucket) { return try await abortInBucket(bucket, invocation) }
        guard invocation.values(LeftoverOptions.upload).isEmpty else {
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
                "leftovers abort: \(all ? "both IDs and --all are given" : "nothing is named")", "give IDs, or --all")
        }
        guard try await queueToLookAt(invocation) else { return .done }
        if all {
            tasks = try await ask { engine throws(RequestError) in try await engine.leftovers() }
                .filter { $0.state == .failed || $0.state == .cancelled }.map(\.task)
        }
        let wanted = tasks
        let forgets = invocation.has(LeftoverOptions.forget)
        let results = try await ask { engine throws(RequestError) in
            try await engine.abortLeftovers(of: wanted, forgets: forgets)
        }
        return tell(results, of: forgets ? .forget : .abort, invocation, empty: "nothing is left at any server")
    }

    // MARK: In a bucket

    private func listBucket(_ url: String, _ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let uploads = try await bucketUploads(url, aborting: [], "leftovers list")
        if invocation.has(CommonOptions.json) {
            for upload in uploads { console.json(upload) }
            return .done
        }
        if uploads.isEmpty {
            console.note("nothing unfinished is below \(RawPath(url).displayed)")
            return .done
        }
        let table = TextTable(
            columns: [.init(title: "Task", width: 7), .init(title: "Begun", width: 24)],
            lastTitle: "Would become, and its upload ID", width: nil)
        console.line(table.header)
        for upload in uploads {
            console.line(
                table.row(
                    [upload.task?.description ?? "-", upload.begun?.description ?? "-"],
                    "\(upload.destination)  \(RawPath(upload.uploadID).displayed)"))
        }
        if uploads.contains(where: { $0.task == nil }) {
            console.note("those without a task are not this queue's: somebody may still be sending them")
        }
        return .done
    }

    private func abortInBucket(_ url: String, _ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let named = invocation.values(LeftoverOptions.upload)
        guard !named.isEmpty, invocation.operands.isEmpty, !invocation.has(CommonOptions.all),
            !invocation.has(LeftoverOptions.forget)
        else {
            throw .usage(
                "leftovers abort: in a bucket each upload is named by its ID alone",
                "give --upload UPLOAD-ID; martlet leftovers list --in \(RawPath(url).displayed) lists them")
        }
        let uploads = try await bucketUploads(url, aborting: named, "leftovers abort")
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
                console.note(
                    "martlet: \(RawPath(id).displayed): there is no such upload below \(RawPath(url).displayed)")
                status = .noSuchObject
            }
        }
        return status
    }

    private func bucketUploads(
        _ url: String, aborting named: [String], _ command: String
    ) async throws(CommandFailure) -> [BucketUpload] {
        let request: BatchRequest
        do throws(QueueingFault) {
            request = try destinationBook().question(url, environment: surroundings.environment)
        } catch {
            throw CommandFailure(error, command: command)
        }
        guard case .upload(_, let bucket) = request.work, TransferScheme(of: bucket) == .s3 else {
            throw .usage("\(command): \(RawPath(url).displayed) is no bucket", "write s3://BUCKET/PREFIX")
        }
        // Without keys of its own the engine has those of the destination.
        let (keys, destination, place) = (request.secrets.s3, request.destination, request.options.s3)
        return try await ask(takesItsTime: true) { engine throws(RequestError) in
            try await engine.bucketUploads(
                at: bucket, place: place, keys: keys, destination: destination, aborting: named)
        }
    }
}
