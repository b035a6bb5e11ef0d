import Configuration
package import TransferModel

/// The meaning of `download URL... DIR`, whoever asks.
package struct DownloadPlan: Sendable {
    /// Without users and passwords.
    package let urls: [TransferURL]
    /// The configured server that they were named through.
    package let place: DestinationBook.Place?
    private let book: DestinationBook
    /// Absolute; made when it is not there.
    package let directory: RawPath
    /// The name of the one file; `nil`: from the server.
    package let fileName: RawPath?

    package init(
        _ words: [String], into directory: RawPath, as fileName: RawPath? = nil,
        destinations book: DestinationBook = .empty()
    ) throws(QueueingFault) {
        self.book = book
        var urls: [TransferURL] = []
        var places: [DestinationBook.Place] = []
        for word in words {
            let place = try book.place(word, "URL")
            let url = place.url
            places.append(place)
            guard url.scheme.downloads else {
                throw .usage("\(url.scheme.rawValue):// only sends", "use https:// or http://")
            }
            // Over HTTP an address that ends in a slash may be a file like any other; only the server knows.
            guard url.scheme.facts.isNegotiated || !(url.path.isEmpty || url.path.hasSuffix("/")) else {
                throw .usage("\(url.text) is a folder, not a file", "give the URL of each file")
            }
            urls.append(url)
        }
        // A batch has one login.
        guard places.allSatisfy({ $0.destination?.name == places.first?.destination?.name }) else {
            throw .usage("the URLs are of different destinations", "queue one batch for each")
        }
        place = places.first
        self.urls = urls
        self.directory = directory
        self.fileName = fileName
    }

    package var sources: [DownloadSource] {
        urls.map { DownloadSource(url: $0.text, directory: directory, fileName: fileName) }
    }

    /// The place whose login the batch needs: the one that wants keys, if any does.
    package var loginPlace: DestinationBook.Place? {
        place.map { place in
            DestinationBook.Place(
                url: urls.first { $0.scheme.facts.login.signsRequests } ?? place.url, destination: place.destination)
        }
    }

    /// The request, with the options' defaults and the user that the URLs name.
    /// - Parameters:
    ///   - environment: of the process that queues; its proxies are kept.
    ///   - password: of the user whom the URLs name without one.
    package func request(
        environment: [String: String], password: String? = nil
    ) throws(QueueingFault) -> BatchRequest {
        var request = BatchRequest(work: .download(sources))
        request.options = book.options(of: place?.destination)
        request.options.uploadBy = nil
        request.secrets = book.secrets(of: place?.destination)
        try TransferURL.requireOneLogin(urls, isGiven: request.secrets.hasLogin)
        if let first = urls.first(where: { $0.user != nil }) {
            request.secrets.user = first.user
            request.secrets.password = first.password ?? password
        } else if request.secrets.user != nil, request.secrets.password == nil {
            request.secrets.password = password
        }
        request.options.proxies = TransferOptions.proxies(of: environment)
        if let place = loginPlace { try book.complete(&request, for: place) }
        return request
    }
}
