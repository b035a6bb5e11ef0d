package import TransferModel

/// A place at a server, as its scheme's protocol knows it.
package struct RemotePlace: Sendable {
    package let scheme: TransferScheme
    package let address: any PlaceAddress
    /// The protocol of its scheme.
    package let descriptor: ProtocolDescriptor

    /// - Parameters:
    ///   - url: without user and query.
    ///   - query: without its question mark.
    package init?(_ url: String, query: String? = nil, s3: S3Place? = nil) {
        guard let scheme = TransferScheme(of: url), let descriptor = ProtocolDescriptor.of(scheme),
            let address = descriptor.address(
                PlaceURL(scheme: scheme, text: PercentEncoding.ofMarks(in: url), query: query, s3: s3))
        else { return nil }
        self.init(scheme, address, descriptor)
    }

    private init(_ scheme: TransferScheme, _ address: any PlaceAddress, _ descriptor: ProtocolDescriptor) {
        (self.scheme, self.address, self.descriptor) = (scheme, address, descriptor)
    }

    private func at(_ address: (any PlaceAddress)?) -> RemotePlace? {
        address.map { RemotePlace(scheme, $0, descriptor) }
    }

    /// A file below this place; an empty path is this place itself.
    package func appending(_ path: RawPath) -> RemotePlace? { path.bytes.isEmpty ? self : at(address.below(path)) }

    /// A folder below this place.
    /// - Parameter isExact: this is the address of a file: the folder is the one that it lies in.
    package func folder(_ path: RawPath, isExact: Bool) -> RemotePlace? {
        isExact ? at(address.folder) : appending(path)
    }

    package var route: TransportRoute { address.route }

    // MARK: Machines

    /// - Parameter job: its path is the one of this place below the destination.
    package func upload(_ job: UploadJob) -> (any ProtocolMachine)? { descriptor.upload?(job, address) }

    package func download(_ job: DownloadJob) -> (any ProtocolMachine)? { descriptor.download?(job, address) }

    /// The machine that takes away what an upload has left; `nil`: there is nothing.
    package func removal(of point: ResumePoint, facts: HostFacts) -> (any ProtocolMachine)? {
        ProtocolDescriptor.began(point)?.removal?(RemovalJob(point: point, facts: facts), address)
    }

    /// The resume point of what an upload to this place may have left when its engine was killed; `nil`: nothing.
    package func guess(_ job: GuessJob) -> ResumePoint? { descriptor.guess?(job, address) }

    package func probe(_ options: TransferOptions, facts: HostFacts) -> PlaceProbe? {
        descriptor.probe?(ProbeJob(options: options, facts: facts), address)
    }

    /// The machine that lists this folder; `nil`: nothing lists it.
    /// - Parameter beginning: how all names begin that matter, where a server can leave the others out.
    package func listing(beginning: RawPath, facts: HostFacts) -> RemoteListing? {
        descriptor.listing?(ListingJob(beginning: beginning, facts: facts), address)
    }

    /// The machine that asks for the file of this place; `nil`: the lists of this protocol tell all names.
    package func fileProbe(named name: RawPath) -> FileProbe? { descriptor.fileProbe?(FileJob(name: name), address) }
}
