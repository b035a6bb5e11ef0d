extension UploadRemoval {
    /// The resources of a tus upload (the termination extension).
    package init(_ point: TusResumePoint, endpoint: HTTPAddress) {
        self.init(point.parts.compactMap(\.url).map { TusMessages.terminate($0, endpoint: endpoint) })
    }
}
