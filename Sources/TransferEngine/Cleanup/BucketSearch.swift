import CurlTransport
import FoundationEssentials
package import TransferModel
import TransferProtocols
import TransferQueue
import WireOperations

/// A search for unfinished uploads: the place in a bucket, and the keys of who asks. Never printed or stored.
package struct BucketSearch: Sendable {
    /// `s3://bucket/prefix`.
    package var url: String
    package var place: S3Place?
    package var keys: S3Keys

    package init(url: String, place: S3Place?, keys: S3Keys) {
        self.url = url
        self.place = place
        self.keys = keys
    }
}

/// An upload that was found in a bucket.
package struct FoundUpload: Sendable, Hashable {
    /// Address of the object that it would become; harmless to print.
    package var destination: String
    package var key: RawPath
    package var uploadID: String
    package var begun: Timestamp?
    /// The task that is sending it at this moment.
    package var task: TaskID?

    package init(destination: String, key: RawPath, uploadID: String, begun: Timestamp?, task: TaskID?) {
        self.destination = destination
        self.key = key
        self.uploadID = uploadID
        self.begun = begun
        self.task = task
    }
}

/// The uploads that a search has found.
package struct FoundUploads: Sendable, Hashable {
    package var uploads: [FoundUpload]
    /// False: the search ended where there may be more.
    package var isWhole: Bool

    package init(_ uploads: [FoundUpload], isWhole: Bool = true) {
        self.uploads = uploads
        self.isWhole = isWhole
    }
}

/// Finds and removes unfinished uploads in a bucket, by requests that belong to no task.
extension TransferEngine {
    package func search(_ search: BucketSearch) async -> Result<FoundUploads, TransferError> {
        guard let address = S3Address(search.url, place: search.place ?? S3Place()) else {
            return .failure(.notABucket)
        }
        let context = context(for: search)
        var pages = S3LeftoverSearch(address, facts: hosts.facts[address.origin] ?? HostFacts())
        var step = pages.begin()
        while true {
            // Nobody waits for it any more.
            if Task.isCancelled { return .failure(.stoppedLooking) }
            switch step {
            case .ask(let exchange, let learnt):
                if let learnt { remember(learnt, of: address.origin) }
                step = pages.took(await ask(exchange, address, context))
            case .failed(let error): return .failure(error)
            case .found(let uploads, let isWhole):
                let running = runningUploads
                let found = uploads.map { upload in
                    var object = address
                    object.key = upload.key
                    return FoundUpload(
                        destination: object.text, key: upload.key, uploadID: upload.uploadID,
                        begun: upload.begun, task: running[upload.uploadID])
                }
                return .success(FoundUploads(found, isWhole: isWhole))
            }
        }
    }

    package func abort(_ upload: FoundUpload, _ search: BucketSearch) async -> TransferError? {
        guard let address = S3Address(search.url, place: search.place ?? S3Place()) else { return .notABucket }
        let context = context(for: search)
        let leftover = S3Leftover(key: upload.key, uploadID: upload.uploadID, begun: upload.begun)
        var removal = S3Removal(leftover.point(at: address), facts: hosts.facts[address.origin] ?? HostFacts())
        var actions = removal.handle(.began(at: timeline.now))
        while !actions.isEmpty {
            switch actions.removeFirst() {
            case .perform(let id, .http(let exchange)):
                let end = await ask(exchange, address, context)
                actions += removal.handle(.ended(id, end))
            case .learned(let facts): remember(facts, of: address.origin)
            case .fail(let error): return error
            case .wait(let demand): return demand.error
            default: break
            }
        }
        return nil
    }

    /// Uploads that are being sent now, and by which tasks.
    private var runningUploads: [String: TaskID] {
        var tasks: [String: TaskID] = [:]
        for attempt in attempts.values {
            guard let work = attempt.upload else { continue }
            let points = [work.resumePoint, work.believedGone?.point].compactMap(\.self)
            for id in points.flatMap(\.bucketUploadIDs) { tasks[id] = attempt.task.id }
        }
        return tasks
    }

    private func context(for search: BucketSearch) -> BatchContext {
        var options = TransferOptions()
        options.s3 = search.place
        var secrets = TransferSecrets()
        secrets.s3 = search.keys
        let order = BatchOrder(
            batch: BatchID(rawValue: 0), session: .default, priority: .normal, options: options, secrets: secrets,
            destination: search.url, destinationQuery: nil)
        return makeContext(order)
    }

    /// One request that belongs to no task.
    private func ask(
        _ exchange: HTTPExchange, _ address: S3Address, _ context: BatchContext
    ) async -> ExchangeEnd {
        let skew = hosts.facts[address.origin]?.clockSkewSeconds ?? 0
        let body: HTTPBody = if case .bytes(let bytes) = exchange.body { .bytes(bytes) } else { .none }
        let request = context.request(exchange, body: body, at: timeline.now.advanced(by: .seconds(skew)))
        let wire = exchanges.newName()
        let end: HTTPTransferEnd? = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard phase == .running, let transport = transports.http else {
                    return continuation.resume(returning: nil)
                }
                do {
                    try transport.start(wire, request, source: nil, limits: .none)
                    exchanges.begin(wire, for: continuation)
                } catch {
                    continuation.resume(returning: nil)
                }
            }
        } onCancel: {
            Task { await self.endQuestion(wire) }
        }
        guard let end else {
            return ExchangeEnd(answer: nil, failure: .network(.stoppedLooking), at: timeline.now)
        }
        let failure = end.failure.map { NetworkFailure.error($0, host: exchange.url.host, handshakes: 3) }
        return ExchangeEnd(
            answer: end.head, body: end.body.bytes, bytesSent: end.bytesSent,
            failure: failure.map { .network($0) }, at: timeline.now)
    }

    /// Nobody waits for this answer any more.
    private func endQuestion(_ wire: WireID) {
        guard let asker = exchanges.takeAsker(of: wire) else { return }
        transports.http?.abandon(wire)
        asker.resume(returning: nil)
    }

    /// Nobody waits for answers any more.
    func endQuestions() {
        for asker in exchanges.takeAskers() { asker.resume(returning: nil) }
    }
}

extension Remains {
    /// The IDs of multipart uploads at S3, with those that only have to be removed.
    package var bucketUploadIDs: [String] {
        task.resumePoint.flatMap { ResumePoint(encoded: $0) }?.bucketUploadIDs ?? []
    }
}

extension ResumePoint {
    fileprivate var bucketUploadIDs: [String] {
        ([self] + left).compactMap { $0.content(S3ResumePoint.self)?.uploadID }
    }
}

extension TransferError {
    fileprivate static var notABucket: TransferError {
        TransferError(.unsupported, "this is no bucket of S3", .step("write s3://bucket/prefix"))
    }
}
