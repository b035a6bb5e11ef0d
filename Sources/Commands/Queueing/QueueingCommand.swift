import CommandLine
import Configuration
import MartletKit

/// A command that queues a batch: `upload`, `download` and `again`.
protocol QueueingCommand: EngineCommand {}

extension QueueingCommand {
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
        return try await Waiting(
            context: context, nodes: [.batch(batch.id)], command: invocation.path[0], json: json, patient: false
        ).untilOver()
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

    /// - Parameter repeated: what is done again; its choices are the defaults.
    func uploadRequest(
        _ words: [[UInt8]], to text: String, like repeated: RepeatedUpload? = nil, _ invocation: Invocation
    ) throws(CommandFailure) -> BatchRequest {
        let command = invocation.path[0]
        try QueueOptions.refuseUnbuilt(invocation.value(QueueOptions.ifExists), invocation)
        let plan: UploadPlan
        let book = context.destinationBook()
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
    func complete(
        _ request: inout BatchRequest, _ book: DestinationBook, _ place: DestinationBook.Place,
        _ invocation: Invocation
    ) throws(CommandFailure) {
        do throws(QueueingFault) { try book.complete(&request, for: place) } catch {
            throw CommandFailure(error, command: invocation.path[0])
        }
        // The user who is named logs in, not the one whose login is kept.
        if invocation.givesLogin { request.destination = nil }
    }

    /// Ways that exclude each other, or mean nothing to the destination.
    private func refuseContradictions(
        _ options: TransferOptions, _ scheme: TransferScheme, _ invocation: Invocation
    ) throws(CommandFailure) {
        let named = invocation.value(QueueOptions.uploadBy)
        guard let way = options.uploadBy else { return }
        guard scheme.facts.isNegotiated else {
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
}
