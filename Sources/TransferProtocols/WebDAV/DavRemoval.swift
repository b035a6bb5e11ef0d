extension UploadRemoval {
    /// The temporary file of an upload over WebDAV; never the target, which a server that cannot rename has the bytes under.
    package init(_ point: DavResumePoint, address: HTTPAddress) {
        let isStraight = point.temporary == address.target
        self.init(isStraight ? [] : [DavMessages.remove(HTTPAddress(address, target: point.temporary))])
    }
}
