import FoundationEssentials
import TestSupport
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

    @Test("our earlier version at the server is known beside a PUT of which nothing is known")
    func ownVersion() throws {
        var lost = StoredVersion(stored: false, etag: nil)
        lost.unanswered = 1
        var point = ResumePoint(lost)
        point.ownVersion = StoredVersion(stored: true, etag: "\"a\"")
        let read = try #require(ResumePoint(encoded: point.encoded))
        #expect(read.ownVersion == point.ownVersion && read.content(StoredVersion.self) == lost)
    }
}

@Suite("Numbers of a resume point that the disk has damaged") struct ResumePointTests {
    private static let numbers: [Int64] = [0, 1, -1, 1 << 53, .max]

    /// Begins, and hears these answers.
    private func drive(_ machine: any ProtocolMachine, _ ends: [ExchangeEnd] = [answered(404), answered(201)]) {
        #expect(!Drive.run(machine, []).isEmpty)
        _ = Drive.run(machine, ends)
    }

    @Test(
        "a Nextcloud upload starts over with chunks that no server takes",
        .tells("c answered what was not asked"), arguments: numbers)
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
            read(ftp) { $0.vanished = Int(number) }, read(ftp) { $0.refusedRenames = Int(number) },
        ]
        #expect(ftps.map { $0 != nil } == [isGeneration, isLength, isCount, isCount])
        let sftp = SFTPResumePoint(temporary: RawPath("d/t"), generation: 1, size: 1000, modified: 1)
        let sftps = [
            read(sftp) { $0.generation = Int(number) }, read(sftp) { $0.size = number },
            read(sftp) { $0.refusedRenames = Int(number) }, read(sftp) { $0.modified = number },
            read(sftp) { $0.vanished = Int(number) },
        ]
        #expect(sftps.map { $0 != nil } == [isGeneration, isLength, isCount, number != .max, isCount])
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
        let put = StoredVersion(stored: false, etag: nil)
        #expect((read(put) { $0.unanswered = Int(number) } != nil) == isCount)
    }
}

@Suite("Every number and name of every resume point") struct EveryResumePointTests {
    /// One of each protocol, with every field.
    private static var all: [any ResumePointContent] {
        let version = RemoteVersion(
            etag: "\"a\"", lastModified: elevenText, isDateStrong: true, total: 10, coding: "br")
        let named = NamedVersion(size: 10, modified: 1)
        let address = HTTPAddress("http://h/u")!
        var get = GetResumePoint(version: version, offset: 5, name: RawPath("f"))
        (get.partName, get.partInode, get.silentLooks) = (RawPath(".f.1.part"), 7, 1)
        var put = StoredVersion(stored: true, etag: "\"a\"")
        (put.unanswered, put.version, put.shown) = (1, named, 1)
        var tus = TusResumePoint(
            parts: [TusResumePoint.Part(0..<10, url: address, cut: UploadCut(offset: 1, sent: 2))], begun: noon,
            expires: noon)
        tus.unanswered = 1
        let ietf = ResumableResumePoint(
            version: 8, length: 10, url: address, cut: UploadCut(offset: 1, sent: 2), begun: noon, expires: noon)
        var dav = DavResumePoint(temporary: "/d/t")
        (dav.version, dav.unanswered, dav.vanished, dav.busyUntil) = (named, 1, 1, noon)
        var nextcloud = NextcloudResumePoint(folder: "martlet-x", chunk: 10 << 20)
        (nextcloud.version, nextcloud.before, nextcloud.vanished, nextcloud.lostAt) = (named, version, 1, noon)
        var ftp = FTPResumePoint(temporary: RawPath("d/t"))
        (ftp.seen, ftp.version, ftp.owned, ftp.vanished) = (1, named, .free(upTo: 10), 1)
        ftp.longest = 10
        var sftp = SFTPResumePoint(temporary: RawPath("d/t"), generation: 1, size: 10, modified: 1)
        (sftp.refusedRenames, sftp.owned, sftp.vanished, sftp.reach) = (1, .free(upTo: 10), 1, SFTPUpload.mostReach)
        return [
            get, put, tus, ietf, dav, nextcloud, ftp, sftp, s3Point(size: 20 << 20),
            PostResumePoint(token: "a", isSent: true),
        ]
    }

    /// Numbers that are only compared: whatever they are, they say that something is another one.
    private static let compared = ["partInode", "modifiedNanoseconds"]

    private static func line(_ kind: String, _ json: String) throws -> [UInt8] {
        let point = String(decoding: try JSONEncoder().encode(json), as: UTF8.self)
        return Array("{\"v\":2,\"kind\":\"\(kind)\",\"point\":\(point)}".utf8)
    }

    /// True when the queue gives such a value back.
    private static func isRead<Content: ResumePointContent>(_ json: String, as sample: Content) throws -> Bool {
        try ResumePoint(encoded: line(Content.kind, json))?.content(Content.self) != nil
    }

    private static func json<Content: ResumePointContent>(_ sample: Content) throws -> String {
        String(decoding: try JSONEncoder().encode(sample), as: UTF8.self)
    }

    /// The name and the place of each number of a line of JSON.
    private static func numbers(_ json: String) -> [(key: String, range: Range<String.Index>)] {
        json.matches(of: /"([A-Za-z]+)":(-?[0-9]+)/).map { (String($0.1), $0.2.startIndex..<$0.2.endIndex) }
    }

    private static func replacing(_ range: Range<String.Index>, in json: String, with text: String) -> String {
        String(json[..<range.lowerBound]) + text + json[range.upperBound...]
    }

    @Test("there is a sample of each protocol")
    func whole() {
        #expect(
            Set(Self.all.map { type(of: $0).kind }) == Set(ProtocolDescriptor.all.compactMap { $0.resumePoint?.kind }))
    }

    @Test("a number that is beyond all bounds makes it damage", arguments: [Int64.min, Int64.max])
    func everyNumber(number: Int64) throws {
        var tried = 0
        for sample in Self.all {
            let json = try Self.json(sample)
            #expect(try Self.isRead(json, as: sample), "\(json)")
            for (key, range) in Self.numbers(json) where !Self.compared.contains(key) {
                let damaged = Self.replacing(range, in: json, with: String(number))
                #expect(try !Self.isRead(damaged, as: sample), "\(damaged)")
                tried += 1
            }
        }
        #expect(tried > 30)
    }

    @Test("a name that leads out of its folder makes it damage", arguments: ["name", "partName", "folder"])
    func everyName(key: String) throws {
        var tried = 0
        for sample in Self.all {
            let json = try Self.json(sample)
            guard let found = json.firstMatch(of: try Regex<(Substring, Substring)>("\"\(key)\":\"([^\"]+)\"")) else {
                continue
            }
            let name = found.1
            let damaged = Self.replacing(name.startIndex..<name.endIndex, in: json, with: "../x")
            #expect(try !Self.isRead(damaged, as: sample), "\(damaged)")
            tried += 1
        }
        #expect(tried == 1)
    }

    @Test(
        "a count of changes of the source that cannot be makes the whole line damage",
        arguments: [Int64.min, -1, 1_000_001, Int64.max])
    func changes(number: Int64) {
        let line = #"{"v":2,"kind":"put","changes":\#(number),"point":"{\"stored\":false}"}"#
        #expect(ResumePoint(encoded: Array(line.utf8)) == nil)
    }
}

@Suite("What a server did not remove") struct LeftPointTests {
    private func old(_ name: String) -> ResumePoint { ResumePoint(FTPResumePoint(temporary: RawPath(name))) }

    @Test("is stored with the point that goes on, each of them once, and never a secret")
    func stored() throws {
        var point = ResumePoint(DavResumePoint(temporary: "/d/.f.1-2.martlet-part"))
        var second = old("b")
        second.leave([old("a")])
        let secret = ResumePoint(encoded: old("c").encoded, secret: "https://h/secret")
        point.leave([second, old("a"), try #require(secret)])
        #expect(point.left == [old("b"), old("a")])
        let read = try #require(ResumePoint(encoded: point.encoded))
        #expect(read == point && read.disclaimed.left == point.left)
        #expect(read.content(DavResumePoint.self) != nil)
    }

    @Test("is all that a finished upload keeps")
    func alone() {
        #expect(ResumePoint(left: []) == nil)
        let point = ResumePoint(left: [old("a"), old("b")])
        #expect(point?.content(FTPResumePoint.self)?.temporary == RawPath("a"))
        #expect(point?.isOutdated == true && point?.left == [old("b")])
    }
}
