package import TransferModel

extension HTTPAddress: PlaceAddress {
    /// The schemes over http lose what they add to it.
    package init?(_ url: PlaceURL) {
        guard let http = url.scheme.overHTTP else { return nil }
        self.init(http + url.rest + (url.query.map { "?" + $0 } ?? ""))
    }

    package func below(_ path: RawPath) -> HTTPAddress? { appending(path) }

    /// Everything up to the last slash of the path.
    package var folder: HTTPAddress? { resolving("./") }

    package var fileName: RawPath { RawPath(lastSegment) }

    package var askedServer: String { origin }
}
