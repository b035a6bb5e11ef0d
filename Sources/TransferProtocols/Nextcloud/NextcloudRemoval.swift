extension UploadRemoval {
    /// The folder of chunks of an upload to Nextcloud.
    package init(_ point: NextcloudResumePoint, address: HTTPAddress) {
        self.init(NextcloudPlace(address).map { [DavMessages.remove($0.folder(point.folder))] } ?? [])
    }
}
