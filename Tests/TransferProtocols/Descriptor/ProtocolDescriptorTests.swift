import Testing
import TransferModel
import WireOperations

@testable import TransferProtocols

@Suite("Each protocol has a descriptor that keeps what its facts promise")
struct ProtocolDescriptorTests {
    @Test("the facts and the descriptors are of the same protocols, and each scheme is one protocol's")
    func registry() {
        #expect(ProtocolDescriptor.all.map(\.facts.id) == ProtocolFacts.all.map(\.id))
        #expect(Set(ProtocolFacts.all.map(\.id)).count == ProtocolFacts.all.count)
        for scheme in TransferScheme.allCases {
            #expect(ProtocolDescriptor.of(scheme)?.facts == scheme.facts, "\(scheme.rawValue)")
        }
        for way in HTTPUploadProtocol.allCases {
            #expect(ProtocolDescriptor.stored(as: way.rawValue)?.upload != nil, "\(way)")
        }
    }

    @Test("a protocol brings what its facts say that it can", arguments: ProtocolFacts.all.map(\.id))
    func promises(_ id: String) throws {
        let descriptor = try #require(ProtocolDescriptor.stored(as: id))
        let facts = descriptor.facts
        #expect((descriptor.listing != nil) == (facts.lists != nil))
        #expect((descriptor.fileProbe != nil) == (facts.lists?.isComplete == false))
        let isNamed = !facts.spellings.isEmpty
        #expect((descriptor.probe != nil) == isNamed)
        // What is sent by a URL can be read back.
        if isNamed { #expect(descriptor.upload != nil && descriptor.download != nil) }
        if case .by(let other) = facts.downloads {
            #expect(ProtocolDescriptor.stored(as: other.id)?.download != nil)
        }
        for variant in facts.variants { #expect(variant.mark != nil && variant.spellings.isEmpty) }
        if let point = descriptor.resumePoint {
            // A form is a POST.
            let (kind, leavesParts, goesOn) = (point.kind, point.leavesParts, point.afterCut == .goesOn)
            #expect(kind == id || id == ProtocolFacts.form.id)
            if descriptor.upload != nil { #expect((descriptor.removal != nil) == leavesParts) }
            if !leavesParts { #expect(!goesOn) }
        }
    }

    @Test("a place of each scheme makes its machines, and they speak over its wire", arguments: TransferScheme.allCases)
    func machines(_ scheme: TransferScheme) throws {
        let destination = try #require(RemotePlace("\(scheme.rawValue)://host/in/"))
        let path = RawPath("d/f")
        let place = try #require(destination.appending(path))
        #expect(place.address.fileName == RawPath("f"))
        let subject = UploadSubject(name: RawPath("f"), size: 3, token: "00")
        let job = UploadJob(
            destination: destination.address, path: path, subject: subject, facts: HostFacts(), resume: nil,
            options: TransferOptions())
        #expect(place.upload(job) != nil)
        let fetching = DownloadJob(
            name: nil, verify: nil, ifChanged: .restart, expects: nil, facts: HostFacts(), resume: nil)
        let machines: [(any ProtocolMachine)?] = [
            place.download(fetching), destination.probe(TransferOptions(), facts: HostFacts()),
            destination.listing(beginning: RawPath(""), facts: HostFacts()), place.fileProbe(named: RawPath("f")),
        ]
        for machine in machines.compactMap({ $0 }) {
            var machine = machine
            for case .perform(_, let exchange) in machine.handle(.began(at: noon)) {
                switch (exchange, place.route) {
                case (.http, .http), (.ftp, .ftp), (.sftp, .sftp): break
                default: Issue.record("\(exchange) does not go to \(place.route)")
                }
            }
        }
    }

    @Test("what an upload left is taken away by the protocol that left it, and by no other's address")
    func removal() throws {
        let point = ResumePoint(DavResumePoint(temporary: "/in/.f"))
        #expect(RemotePlace("dav://h/in/f")?.removal(of: point, facts: HostFacts()) is UploadRemoval)
        #expect(RemotePlace("sftp://h/in/f")?.removal(of: point, facts: HostFacts()) == nil)
        let whole = ResumePoint(StoredVersion(stored: true, etag: nil))
        #expect(RemotePlace("https://h/in/f")?.removal(of: whole, facts: HostFacts()) == nil)
        #expect(!whole.goesOn && !whole.leavesParts && !point.goesOn && point.leavesParts)
    }

    @Test("a POST that a person retries is sent again, and never takes the place of what it made")
    func retriedPost() {
        let post = ResumePoint(PostResumePoint(token: "a", isSent: true))
        #expect(post.afterCut == .isUnknown && post.retried == ResumePoint(PostResumePoint(token: "a", isSent: false)))
        let put = ResumePoint(StoredVersion(stored: true, etag: nil))
        #expect(put.afterCut == .beginsAgain && put.retried == nil)
    }

    @Test("a PUT that a person retries has all its tries again, and what is known of the final name stays known")
    func retriedPut() {
        var lost = StoredVersion(stored: false, etag: nil)
        lost.unanswered = 2
        var point = ResumePoint(lost)
        (point.sourceChanges, point.isOutdated, point.targetIsOther) = (1, true, true)
        point.ownVersion = StoredVersion(stored: true, etag: "\"a\"")
        let retried = point.retried
        #expect(retried?.content(StoredVersion.self) == StoredVersion(stored: false, etag: nil))
        #expect(retried?.sourceChanges == 1 && retried?.isOutdated == true && retried?.targetIsOther == true)
        #expect(retried?.ownVersion == point.ownVersion)
    }

    @Test("what a small upload over SFTP may have left is guessed, and no other protocol's")
    func guesses() throws {
        #expect(ProtocolDescriptor.schemesToGuess.map(\.rawValue) == ["sftp"])
        func guess(_ url: String, size: Int64, cannotRename: Bool? = nil) -> ResumePoint? {
            var facts = HostFacts()
            facts.cannotRename = cannotRename
            let job = GuessJob(token: "00", size: size, modifiedNanoseconds: 0, facts: facts)
            return RemotePlace(url)?.guess(job)
        }
        #expect(guess("sftp://h/in/f", size: 5)?.isGuess == true)
        #expect(guess("sftp://h/in/f", size: SFTPUpload.small + 1) == nil)
        #expect(guess("sftp://h/in/f", size: 5, cannotRename: true) == nil)
        #expect(guess("ftp://h/in/f", size: 5) == nil)
        #expect(!ResumePoint(SFTPResumePoint(temporary: RawPath("/a"), generation: 1, size: 5, modified: 0)).isGuess)
    }
}
