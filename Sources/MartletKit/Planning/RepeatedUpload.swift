package import TransferModel

/// A batch of uploads that is done once more, to the same place or to another.
package struct RepeatedUpload: Hashable, Sendable {
    package let batch: BatchID
    /// The request that would queue the same.
    package let order: BatchRequest
    package let sources: [UploadSource]
    /// The destination of that batch: a URL without user and query.
    package let destination: String

    /// - Parameter order: as the engine tells it. `nil`: it downloads.
    package init?(_ order: BatchRequest) {
        guard let batch = order.like, case .upload(let sources, let destination) = order.work else { return nil }
        self.batch = batch
        self.order = order
        self.sources = sources
        self.destination = destination
    }

    /// The sources as a person types them for `upload`.
    package var words: [[UInt8]] {
        sources.map { $0.placement == .contents ? $0.path.bytes + Array("/.".utf8) : $0.path.bytes }
    }

    /// The same without saying what of them goes: absolute.
    package var paths: [[UInt8]] { sources.map(\.path.bytes) }

    /// True when that batch's login may be shown there: it is the same server, named without a login of its own. The engine looks, too.
    package func lendsLogin(to place: DestinationBook.Place) -> Bool {
        place.url.user == nil && isSameServer(place)
    }

    private func isSameServer(_ place: DestinationBook.Place) -> Bool {
        guard place.destination == nil, let before = try? TransferURL(destination, place: "DEST") else { return false }
        return before.origin == place.url.origin
    }

    /// Its options where the server is the same, for whichever user; elsewhere the person's choices, and the rest as that server wants it.
    package func options(at place: DestinationBook.Place, _ book: DestinationBook) -> TransferOptions {
        if isSameServer(place) {
            var options = order.options
            // Other schemes say the protocol themselves.
            if !place.url.scheme.facts.isNegotiated { (options.uploadBy, options.form) = (nil, nil) }
            return options
        }
        var options = book.options(of: place.destination)
        let before = order.options
        (options.ifExists, options.ifChanged, options.verify) = (before.ifExists, before.ifChanged, before.verify)
        options.giveUpAfterSeconds = before.giveUpAfterSeconds
        options.requestTimeoutSeconds = before.requestTimeoutSeconds
        (options.include, options.exclude, options.followLinks) = (before.include, before.exclude, before.followLinks)
        if before.limitOf == nil, let rate = before.bytesPerSecond {
            (options.bytesPerSecond, options.limitOf) = (rate, nil)
        }
        return options
    }

    /// The request that does it again at the place of `plan`, which was made of `words`.
    /// - Parameters:
    ///   - environment: of the process that queues; its proxies are kept.
    ///   - password: of the user whom the place names without one.
    package func request(
        _ plan: UploadPlan, _ book: DestinationBook, environment: [String: String], password: String? = nil
    ) throws(QueueingFault) -> BatchRequest {
        let isLent = lendsLogin(to: plan.place)
        var request =
            isLent
            ? BatchRequest(work: .upload(plan.sources, to: plan.destination.text), like: batch)
            : try plan.request(environment: environment, password: password)
        let s3 = request.options.s3
        request.options = options(at: plan.place, book)
        if !isLent { request.options.s3 = s3 }
        request.options.proxies = TransferOptions.proxies(of: environment)
        (request.session, request.name) = (order.session, order.name)
        return request
    }
}
