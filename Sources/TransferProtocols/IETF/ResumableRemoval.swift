extension UploadRemoval {
    /// The resource of an upload of the IETF draft.
    package init(_ point: ResumableResumePoint, address: HTTPAddress) {
        self.init(
            point.url.map { [ResumableMessages.cancel($0, version: point.version, target: address)] } ?? [])
    }
}
