package import TransferModel

/// A protocol with its machines: all that the engine asks of it. Each one is declared in its folder; what it says of itself to those who
/// know no machines is its `ProtocolFacts`.
package final class ProtocolDescriptor: Sendable {
    /// All protocols, in the order of `ProtocolFacts.all`. A new one is added here, and there.
    package static let all: [ProtocolDescriptor] = [
        .web, .put, .post, .form, .tus, .ietf, .dav, .nextcloud, .s3, .sftp, .ftp, .get,
    ]

    /// Makes something for an address, whichever protocol's; `nil`: it is another one's, or nothing is to be done.
    package typealias Maker<Job, Product> = @Sendable (Job, any PlaceAddress) -> Product?

    package let facts: ProtocolFacts
    /// The resume point of its transfers; `nil`: other protocols transfer in its place.
    package let resumePoint: (any ResumePointContent.Type)?
    /// Reads the URLs of its schemes.
    let address: @Sendable (PlaceURL) -> (any PlaceAddress)?
    /// Sends a file. `nil`: it only fetches.
    package let upload: Maker<UploadJob, any ProtocolMachine>?
    /// Fetches a file, also to compare it with what was sent. `nil`: it only sends.
    package let download: Maker<DownloadJob, any ProtocolMachine>?
    /// Takes away what an upload left. `nil`: nothing but whole files can be left.
    package let removal: Maker<RemovalJob, any ProtocolMachine>?
    /// Asks whether a place can be used.
    package let probe: Maker<ProbeJob, PlaceProbe>?
    /// Lists a folder.
    package let listing: Maker<ListingJob, RemoteListing>?
    /// Asks for a file by its name. `nil`: its lists tell all names, or there are none.
    package let fileProbe: Maker<FileJob, FileProbe>?
    /// Guesses what an engine that was killed may have left of an upload of which nothing was recorded. `nil`: what is left is always
    /// recorded before its first byte.
    package let guess: Maker<GuessJob, ResumePoint>?

    init<Address: PlaceAddress>(
        _ facts: ProtocolFacts, at _: Address.Type, resumePoint: (any ResumePointContent.Type)? = nil,
        upload: (@Sendable (UploadJob, Address) -> (any ProtocolMachine)?)? = nil,
        download: (@Sendable (DownloadJob, Address) -> (any ProtocolMachine)?)? = nil,
        removal: (@Sendable (RemovalJob, Address) -> (any ProtocolMachine)?)? = nil,
        probe: (@Sendable (ProbeJob, Address) -> PlaceProbe?)? = nil,
        listing: (@Sendable (ListingJob, Address) -> RemoteListing?)? = nil,
        fileProbe: (@Sendable (FileJob, Address) -> FileProbe?)? = nil,
        guess: (@Sendable (GuessJob, Address) -> ResumePoint?)? = nil
    ) {
        self.facts = facts
        self.resumePoint = resumePoint
        address = { Address($0) }
        self.upload = Self.anywhere(upload)
        self.download = Self.anywhere(download)
        self.removal = Self.anywhere(removal)
        self.probe = Self.anywhere(probe)
        self.listing = Self.anywhere(listing)
        self.fileProbe = Self.anywhere(fileProbe)
        self.guess = Self.anywhere(guess)
    }

    private static func anywhere<Job, Address: PlaceAddress, Product>(
        _ make: (@Sendable (Job, Address) -> Product?)?
    ) -> Maker<Job, Product>? {
        guard let make else { return nil }
        return { job, address in
            guard let own = address as? Address else { return nil }
            return make(job, own)
        }
    }

    /// The schemes by which uploads may leave something of which nothing is recorded.
    package static var schemesToGuess: [TransferScheme] { TransferScheme.allCases.filter { of($0)?.guess != nil } }

    /// The protocol that a URL means.
    static func of(_ scheme: TransferScheme) -> ProtocolDescriptor? { all.first { $0.facts == scheme.facts } }

    /// The protocol that is stored under a name, such as what a host was found to speak.
    static func stored(as id: String) -> ProtocolDescriptor? { all.first { $0.facts.id == id } }

    /// The protocol whose transfer left a resume point.
    package static func began(_ point: ResumePoint) -> ProtocolDescriptor? {
        all.first { $0.resumePoint?.kind == point.kind }
    }
}
