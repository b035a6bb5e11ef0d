package import TransferModel

/// The meaning of `upload SOURCE... DEST`, whoever asks: the command line or the screen.
package struct UploadPlan: Sendable {
    /// Without user and password.
    package let destination: TransferURL
    /// The configured server that it was named through.
    package let place: DestinationBook.Place
    private let book: DestinationBook
    package let sources: [UploadSource]

    /// Looks at the sources and places them at the destination.
    /// - Parameters:
    ///   - words: as typed; relative ones are taken from `currentDirectory`.
    ///   - destination: a URL or `NAME:path`; ends in a slash, or in the colon, when it is a directory.
    package init(
        _ words: [[UInt8]], to destination: String, currentDirectory: [UInt8],
        destinations book: DestinationBook = .empty()
    ) throws(QueueingFault) {
        self.book = book
        place = try book.place(destination, "DEST")
        self.destination = place.url
        let paths = try Self.look(at: words, currentDirectory: currentDirectory)
        sources = try Self.place(paths, at: self.destination)
    }

    /// The request, with the options' defaults and the user and password that the URL named.
    /// - Parameters:
    ///   - environment: of the process that queues; its proxies are kept.
    ///   - password: of the user whom the URL names without one.
    package func request(
        environment: [String: String], password: String? = nil
    ) throws(QueueingFault) -> BatchRequest {
        var request = BatchRequest(work: .upload(sources, to: destination.text))
        request.options = book.options(of: place.destination)
        request.secrets = book.secrets(of: place.destination)
        request.options.proxies = TransferOptions.proxies(of: environment)
        let password = destination.password ?? password
        if destination.user != nil, password == nil, !destination.scheme.facts.login.isByOwnProgram {
            throw .usage(
                "DEST names a user and no password", "write USER:PASSWORD@, or queue it by martlet upload, which asks")
        }
        if let user = destination.user {
            request.secrets.user = user
            request.secrets.password = password
        } else if request.secrets.user != nil, request.secrets.password == nil {
            request.secrets.password = password
        }
        try book.complete(&request, for: place)
        return request
    }

    /// Finds out what of the sources cannot be sent.
    @discardableResult
    package static func look(
        at words: [[UInt8]], currentDirectory: [UInt8]
    ) throws(QueueingFault) -> [SourcePath] {
        var paths: [SourcePath] = []
        for word in words { paths.append(try SourcePath(word, currentDirectory: currentDirectory)) }
        return paths
    }

    private static func place(_ sources: [SourcePath], at destination: TransferURL) throws(QueueingFault)
        -> [UploadSource]
    {
        guard destination.path.hasSuffix("/") else { return [try placeExactly(sources, at: destination)] }
        guard destination.query.isEmpty else {
            throw .usage("DEST is a directory and has a query (?…)", "leave the query out")
        }
        var names: Set<RawPath> = []
        for source in sources where !source.name.bytes.isEmpty && !names.insert(source.name).inserted {
            throw .usage("two sources are named \(source.name.displayed)", "queue them as two batches")
        }
        return sources.map { source in
            UploadSource(path: source.path, placement: source.name.bytes.isEmpty ? .contents : .named(source.name))
        }
    }

    private static func placeExactly(_ sources: [SourcePath], at destination: TransferURL) throws(QueueingFault)
        -> UploadSource
    {
        if destination.hasFragment { throw TransferURL.hash(in: destination.text + "#", place: "DEST") }
        let directory = "\(destination.scheme.rawValue)://\(destination.authority)\(destination.path)/"
        guard sources.count == 1, let source = sources.first else {
            throw .usage("several sources need a DEST that is a directory", "end it in a slash: \(directory)")
        }
        guard !source.isDirectory else {
            throw .usage("\(source.shown) is a directory, and DEST is not", "end DEST in a slash: \(directory)")
        }
        guard !destination.path.isEmpty else {
            throw .usage("DEST has no path", "end it in a slash: \(directory)")
        }
        return UploadSource(path: source.path, placement: .exactly)
    }
}
