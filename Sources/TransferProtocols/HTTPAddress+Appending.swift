package import TransferModel

extension HTTPAddress {
    /// The address of a file below this one, which ends in a slash; the query stays. An empty path is this address itself.
    /// Bytes that no URL holds, and those with a meaning in one, are percent-encoded.
    package func appending(_ path: RawPath) -> HTTPAddress {
        if path.bytes.isEmpty { return self }
        let question = target.firstIndex(of: "?") ?? target.endIndex
        var extended = String(target[..<question])
        if !extended.hasSuffix("/") { extended += "/" }
        extended += PercentEncoding.encode(path.bytes, keepingSlashes: true)
        extended += target[question...]
        return HTTPAddress(self, target: extended)
    }
}
