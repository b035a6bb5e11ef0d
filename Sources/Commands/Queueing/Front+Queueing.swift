import CommandLine
import Configuration
import LinuxSystem
import MartletKit

extension Front {
    func upload(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let request = try uploadRequest(invocation)
        return try await queue(request, invocation)
    }

    func download(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let request = try downloadRequest(invocation)
        return try await queue(request, invocation)
    }

    /// Queues the batch, prints it, and waits for its end if that was asked for.
    func queue(_ request: BatchRequest, _ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let batch = try await ask { engine throws(RequestError) in try await engine.add(request).batch }
        if invocation.has(QueueOptions.first) { await moveToTop(batch.id) }
        let json = invocation.has(CommonOptions.json)
        guard invocation.has(QueueOptions.wait) else {
            console.note(done: "\(batch.id) is queued")
            if json { console.json(batch) } else { console.line(batch.id.description) }
            return .done
        }
        if !json { console.line(batch.id.description) }
        console.flush()
        return try await waitFor(
            [.batch(batch.id)], command: invocation.path[0], json: json, patient: false, timeout: nil)
    }

    /// It is queued whatever comes of this, so the status stays 0.
    private func moveToTop(_ batch: BatchID) async {
        do throws(RequestError) {
            let changed = try await engine.change(.ids([.batch(batch)]), .move(.top))
            guard let refusal = changed.results.first(where: { $0.result == .refused }) else { return }
            console.note("martlet: \(batch) is queued, but not before the others: \(refusal.message ?? "refused")")
        } catch {
            console.note("martlet: \(batch) is queued, but not before the others: \(error.message)")
        }
    }

    // MARK: What is asked for

    func uploadRequest(_ invocation: Invocation) throws(CommandFailure) -> BatchRequest {
        guard let last = invocation.operands.last, let text = last.text else {
            throw .usage("upload: DEST is not UTF-8", "percent-encode it")
        }
        return try uploadRequest(invocation.operands.dropLast().map(\.bytes), to: text, invocation)
    }

    /// - Parameter repeated: what is done again; its choices are the defaults.
    func uploadRequest(
        _ words: [[UInt8]], to text: String, like repeated: RepeatedUpload? = nil, _ invocation: Invocation
    ) throws(CommandFailure) -> BatchRequest {
        let command = invocation.path[0]
        try refuse(invocation.value(QueueOptions.ifExists), invocation)
        let plan: UploadPlan
        let book = destinationBook()
        do throws(QueueingFault) {
            plan = try UploadPlan(
                words, to: text, currentDirectory: surroundings.currentDirectory, destinations: book)
        } catch {
            throw CommandFailure(error, command: command)
        }
        let destination = plan.place.destination
        let defaults = repeated?.options(at: plan.place, book) ?? book.options(of: destination)
        var request = BatchRequest(
            .upload(plan.sources, to: plan.destination.text), invocation, surroundings, defaults: defaults)
        try refuseContradictions(request.options, plan.destination.scheme, invocation)
        request.secrets = try TransferSecrets(
            invocation, urls: [plan.destination], command: command, surroundings,
            defaults: book.secrets(of: destination), isKept: destination?.login == .kept)
        if let repeated, repeated.lendsLogin(to: plan.place) {
            request.like = repeated.batch
        } else {
            try complete(&request, book, plan.place, invocation)
        }
        return request
    }

    /// Adds what a destination and S3's surroundings give.
    private func complete(
        _ request: inout BatchRequest, _ book: DestinationBook, _ place: DestinationBook.Place,
        _ invocation: Invocation
    ) throws(CommandFailure) {
        do throws(QueueingFault) { try book.complete(&request, for: place) } catch {
            throw CommandFailure(error, command: invocation.path[0])
        }
        // Who is named logs in, not the one whose login is kept.
        if invocation.givesLogin { request.destination = nil }
    }

    /// Some of the contract's ways with a file that is there already are not built; taken for granted they would overwrite it.
    func refuse(_ policy: ExistingFilePolicy?, _ invocation: Invocation) throws(CommandFailure) {
        guard let policy, !ExistingFilePolicy.built.contains(policy) else { return }
        throw .usage(
            "\(invocation.path.joined(separator: " ")): --if-exists \(policy.rawValue) is not built yet",
            "use \(alternatives(ExistingFilePolicy.built.map(\.rawValue)))")
    }

    /// Ways that exclude each other, or mean nothing to the destination.
    private func refuseContradictions(
        _ options: TransferOptions, _ scheme: TransferScheme, _ invocation: Invocation
    ) throws(CommandFailure) {
        let named = invocation.value(QueueOptions.wireProtocol)
        guard let way = options.uploadBy else { return }
        guard scheme == .http || scheme == .https else {
            throw .usage(
                "\(invocation.path[0]): --protocol, --method, --form and --field are for http:// and https://",
                "leave them out; \(scheme.rawValue):// says the protocol")
        }
        if let named, named != way {
            throw .usage(
                "\(invocation.path[0]): --protocol \(named.rawValue) and \(way.rawValue) exclude each other", "give one"
            )
        }
        if way == .form, invocation.value(QueueOptions.method) == .put {
            throw .usage("\(invocation.path[0]): a form cannot be sent by PUT", "leave --method out")
        }
    }

    func downloadRequest(_ invocation: Invocation) throws(CommandFailure) -> BatchRequest {
        try refuse(invocation.value(QueueOptions.ifExists), invocation)
        guard let target = invocation.operands.last else {
            throw .usage("download: DIR is missing", "give a directory")
        }
        var words: [String] = []
        for word in invocation.operands.dropLast() {
            guard let text = word.text else { throw .usage("download: a URL is not UTF-8", "percent-encode it") }
            words.append(text)
        }
        if invocation.has(QueueOptions.sha256), words.count > 1 {
            throw .usage("download: --sha256 is one file's digest", "queue each URL by itself")
        }
        let (directory, name) = try place(of: target, count: words.count)
        let book = destinationBook()
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
        let parent = RawPath(Array(path.bytes[..<(path.bytes.lastIndex(of: UInt8(ascii: "/")) ?? 0)]))
        let directory = parent.bytes.isEmpty ? RawPath("/") : parent
        guard (try? System.stat(directory.bytes))?.kind == .directory else {
            // A URL in the wrong place is shown as one: it may have a password in it.
            let isAddress = target.text.map { ShownAddress.of($0) != $0 } ?? false
            let shown = isAddress ? "for \(target.shown)" : directory.displayed
            throw .usage("download: there is no directory \(shown)", "make it first")
        }
        return (directory, path.lastComponent)
    }
}

extension CommandFailure {
    /// The fault of a request that cannot be meant, as a wrong command line.
    init(_ fault: QueueingFault, command: String) {
        let status: ExitStatus = fault.code == .noSuchObject ? .noSuchObject : .usage
        self.init(status, FailureCode(rawValue: fault.code.rawValue), "\(command): \(fault.what)", fault.remedy)
    }
}
