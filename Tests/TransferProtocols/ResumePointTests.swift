import Testing
import TransferModel

@testable import TransferProtocols

/// The point as the queue gives it back, changed; `nil` when it is damaged.
private func read<Content: ResumePointContent>(_ content: Content, _ change: (inout Content) -> Void) -> Content? {
    var damaged = content
    change(&damaged)
    let stored = ResumePoint(damaged)
    return ResumePoint(encoded: stored.encoded, secret: stored.secret)?.content(Content.self)
}

@Suite("Resume points of earlier builds") struct FormerResumePointTests {
    @Test("the mark that what lies there is another file is read where it once was, and stays")
    func mark() throws {
        let line = #"{"v":2,"kind":"put","outdated":true,"point":"{\"isOther\":true,\"stored\":false}"}"#
        let point = try #require(ResumePoint(encoded: Array(line.utf8)))
        #expect(point.targetIsOther && point.isOutdated && point.ownVersion == nil)
        #expect(ResumePoint(encoded: point.encoded)?.targetIsOther == true)
        let own = #"{"v":2,"kind":"put","point":"{\"etag\":\"a\",\"stored\":true}"}"#
        #expect(ResumePoint(encoded: Array(own.utf8))?.targetIsOther == false)
    }
}

@Suite("Numbers of a resume point that the disk has damaged") struct ResumePointTests {
    private static let numbers: [Int64] = [0, 1, -1, 1 << 53, .max]

    /// Begins, and hears these answers.
    private func drive(_ machine: any ProtocolMachine, _ ends: [ExchangeEnd] = [answered(404), answered(201)]) {
        #expect(!Drive.run(machine, []).isEmpty)
        _ = Drive.run(machine, ends)
    }

    @Test("a Nextcloud upload starts over with chunks that no server takes", arguments: numbers)
    func nextcloud(number: Int64) {
        let size: Int64 = 25 << 20
        let left = NextcloudResumePoint(folder: "martlet-x", chunk: 10 << 20)
        let chunk = read(left) { ($0.chunk, $0.isMade) = (number, true) }
        #expect((chunk != nil) == (1...1 << 53).contains(number))
        let generation = read(left) { $0.generation = Int(number) }
        #expect((generation != nil) == (number == 1))
        let last = read(left) { $0.generation = 1_000_000 }
        for point in [chunk, generation, last].compactMap(\.self) {
            for hasChanged in [false, true] {
                let plan = NextcloudPlan(
                    address: HTTPAddress("https://c/remote.php/dav/files/u/d/f")!,
                    subject: subject(size, hasChanged: hasChanged), resume: point)
                let begun = Drive.run(NextcloudUpload(plan), [])
                // A chunk of one byte makes 26 million of them.
                let isClearing = begun.last?.contains(" DELETE ") == true
                #expect(isClearing == (hasChanged || point.chunk == 1))
                drive(NextcloudUpload(plan))
                let folder = "/remote.php/dav/uploads/u/martlet-x/"
                drive(NextcloudUpload(plan), [listing((folder, nil)), answered(201, sent: size), answered(201)])
            }
        }
    }

    @Test("an upload under a temporary name has no number above the bounds", arguments: numbers)
    func renaming(number: Int64) {
        let isGeneration = number == 1
        let isLength = (0...1 << 53).contains(number)
        let isCount = (0...1).contains(number)
        let address = HTTPAddress("https://h/d/f")!
        let dav = DavResumePoint(temporary: "/d/t")
        let davs = [
            read(dav) { $0.generation = Int(number) }, read(dav) { $0.unanswered = Int(number) },
            read(dav) { $0.vanished = Int(number) },
        ]
        #expect(davs.map { $0 != nil } == [isGeneration, isCount, isCount])
        let ftp = FTPResumePoint(temporary: RawPath("d/t"))
        let ftps = [
            read(ftp) { $0.generation = Int(number) }, read(ftp) { $0.seen = number },
            read(ftp) { $0.vanished = Int(number) },
        ]
        #expect(ftps.map { $0 != nil } == [isGeneration, isLength, isCount])
        let sftp = SFTPResumePoint(temporary: RawPath("d/t"), size: 1000, modified: 1)
        let sftps = [
            read(sftp) { $0.generation = Int(number) }, read(sftp) { $0.size = number },
            read(sftp) { $0.refusedRenames = Int(number) }, read(sftp) { $0.modified = number },
            read(sftp) { $0.vanished = Int(number) },
        ]
        #expect(sftps.map { $0 != nil } == [isGeneration, isLength, isCount, true, isCount])
        for hasChanged in [false, true] {
            let subject = subject(1000, hasChanged: hasChanged)
            for point in davs.compactMap(\.self) {
                drive(DavUpload(DavPlan(address: address, subject: subject, resume: point)))
            }
            for point in ftps.compactMap(\.self) {
                drive(FTPUpload(FTPUploadPlan(host: "h", path: RawPath("d/f"), subject: subject, resume: point)), [])
            }
            for point in sftps.compactMap(\.self) {
                drive(SFTPUpload(SFTPUploadPlan(host: "h", path: RawPath("d/f"), subject: subject, resume: point)), [])
            }
        }
    }

    @Test("lengths, offsets and counts of the other protocols are within the bounds", arguments: numbers)
    func others(number: Int64) {
        let isLength = (0...1 << 53).contains(number)
        let isCount = (0...1).contains(number)
        let size: Int64 = 20 << 20
        let s3s = [read(s3Point(size: size)) { $0.partSize = number }, read(s3Point(size: size)) { $0.size = number }]
        #expect(s3s.map { $0 != nil } == [number == 1 << 53, (0...1).contains(number)])
        for point in s3s.compactMap(\.self) {
            drive(S3Upload(s3Plan(size: size, resume: point)))
            drive(S3Upload(s3Plan(size: point.size, resume: point)))
        }
        let address = HTTPAddress("http://h/u")!
        let ietf = ResumableResumePoint(version: 8, length: 1000, url: address, cut: UploadCut(offset: 1, sent: 2))
        let ietfs = [
            read(ietf) { $0.length = number }, read(ietf) { $0.cut = UploadCut(offset: number, sent: 1) },
            read(ietf) { $0.cut = UploadCut(offset: 1, sent: number) },
        ]
        #expect(ietfs.map { $0 != nil } == [isLength, isLength, isLength])
        for point in ietfs.compactMap(\.self) {
            let plan = ResumablePlan(address: address, subject: subject(1000), resume: point)
            drive(ResumableUpload(plan), [answered(404)])
        }
        let part = TusResumePoint.Part(0..<1000, url: address, cut: UploadCut(offset: 1, sent: 2))
        let tus = TusResumePoint(parts: [part])
        let many = [
            read(tus) { $0.parts[0].end = number }, read(tus) { $0.parts[0].cut?.offset = number },
            read(tus) { $0.parts[0].cut?.sent = number }, read(tus) { $0.unanswered = Int(number) },
        ]
        #expect(many.map { $0 != nil } == [isLength, isLength, isLength, isCount])
        for point in many.compactMap(\.self) {
            drive(TusUpload(TusPlan(endpoint: address, subject: subject(1000), resume: point)), [answered(404)])
        }
        let get = GetResumePoint(version: RemoteVersion(), offset: 1, name: RawPath("f"))
        #expect((read(get) { $0.offset = number } != nil) == isLength)
        let put = PutResumePoint(stored: false, etag: nil)
        #expect((read(put) { $0.unanswered = Int(number) } != nil) == isCount)
    }
}
