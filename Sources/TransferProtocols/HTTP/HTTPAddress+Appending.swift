package import TransferModel

extension HTTPAddress {
    /// The same with a slash at the end of its path, as folders are written; the query stays.
    package var appendingSlash: HTTPAddress {
        let path = target.prefix { $0 != "?" }
        return HTTPAddress(self, target: path + "/" + target[path.endIndex...])
    }

    /// The address of a file below this one, which ends in a slash; the query stays. An empty path is this address itself.
    /// Bytes that no URL holds, and those with a meaning in one, are percent-encoded.
    package func appending(_ path: RawPath) -> HTTPAddress {
        if path.bytes.isEmpty { return self }
        // Bytes, not characters: each of a batch's files comes by here.
        let question = target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex
        var extended = String(target[..<question])
        if extended.utf8.last != UInt8(ascii: "/") { extended += "/" }
        extended += PercentEncoding.encode(path.bytes, keepingSlashes: true)
        if question != target.endIndex { extended += target[question...] }
        return HTTPAddress(self, target: extended)
    }
}
