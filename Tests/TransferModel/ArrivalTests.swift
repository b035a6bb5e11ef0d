import FoundationEssentials
import Testing
import TransferModel

@Suite struct ArrivalTests {
    private func words(
        sent: Int64, accepted: Int64, _ state: TransferState = .running, isDownload: Bool = false
    ) -> String {
        let bytes = ByteCounts(total: 400, sent: sent, accepted: accepted)
        return Arrival(bytes, isDownload: isDownload, state: state).sentence { "\($0)M" }
    }

    @Test("what a server confirms only at the end does not read as lost")
    func atTheEnd() {
        #expect(words(sent: 312, accepted: 0) == "312M sent, the server confirms at the end")
        #expect(words(sent: 400, accepted: 0, .finishing) == "400M sent, the server confirms at the end")
        #expect(words(sent: 312, accepted: 0, .waiting) == "312M sent, not confirmed by the server yet")
    }

    @Test("what is confirmed bit by bit is told, and nothing where all of it is")
    func soFar() {
        #expect(words(sent: 312, accepted: 256) == "312M sent, 256M of it confirmed by the server so far")
        #expect(words(sent: 312, accepted: 256, .paused) == "312M sent, 256M of it confirmed by the server")
        #expect(words(sent: 312, accepted: 312) == "312M sent")
        #expect(words(sent: 0, accepted: 0, .queued) == "0M sent")
    }

    @Test("what was there already was not sent, and is not missing")
    func found() {
        var bytes = ByteCounts(total: 400, sent: 60, accepted: 60)
        bytes.found = 340
        let words = Arrival(bytes, isDownload: false, state: .completed).sentence { "\($0)M" }
        #expect(words == "60M sent, 340M was there already")
    }

    @Test("a download is received, and safe on the disk")
    func downloads() {
        #expect(words(sent: 312, accepted: 256, isDownload: true) == "312M received, 256M of it safe on the disk")
        #expect(words(sent: 312, accepted: 0, isDownload: true) == "312M received")
    }

    @Test("a size that was compared is no digest")
    func checks() {
        #expect(Verification.size.words == "by its size only")
        #expect(Verification.digest.words == "by its digest")
        var task = task("/home/ana/a")
        #expect(task.checked == nil)
        task.state = .completed
        #expect(task.checked == "not compared; the server took it")
        task.answered = 201
        #expect(task.checked == "not compared; the server answered 201")
        task.skipped = true
        #expect(task.checked == nil)
        task.skipped = false
        task.verified = .size
        #expect(task.checked == "by its size only")
        task.verified = .digest
        #expect(task.checked == "by its digest")
        task.protocol = "s3"
        #expect(task.checked == "by the digests of its parts (MD5 and the ETag)")
        task.digest = TransferDigest(algorithm: "sha-256", value: "00")
        #expect(task.checked == "by its digest (sha-256)")
        var row = NodeRow(
            id: .task(task.batch, task.id), name: "a", state: .completed, counts: FileCounts(), bytes: ByteCounts())
        #expect(row.checked == nil)
        for (by, words) in [
            ("size", "by its size only"), ("digest", "by its digest"), ("sha-256", "by its digest (sha-256)"),
        ] {
            row.comparedBy = by
            #expect(row.checked == words)
        }
        #expect(Verification.none.words == nil)
    }

    private func task(_ source: String, folder: String = "", direction: TransferDirection = .upload) -> TaskSnapshot {
        let name = source.split(separator: "/").last.map(String.init) ?? ""
        return TaskSnapshot(
            id: TaskID(rawValue: 1), uuid: UUID(), batch: BatchID(rawValue: 1), session: .default,
            direction: direction, state: .queued, priority: .normal, name: RawPath(name), folder: RawPath(folder),
            source: RawPath(source), destination: RawPath("x"), bytesTotal: nil, createdAt: Timestamp(milliseconds: 0))
    }

    @Test("a folder that was queued is one source, a download's is its whole address")
    func sources() {
        let uploads = [
            task("/home/ana/raw/a", folder: "raw"), task("/home/ana/raw/2024/b", folder: "raw/2024"),
            task("/home/ana/notes.txt"), task("/mnt/raw/c", folder: "raw"),
        ]
        #expect(NamedSources(uploads).places == ["/home/ana/raw", "/home/ana/notes.txt", "/mnt/raw"])
        let downloads = ["https://h/iso/a.iso", "https://h/iso/b.iso"].map { task($0, direction: .download) }
        #expect(NamedSources(downloads).places == ["https://h/iso/a.iso", "https://h/iso/b.iso"])
    }

    @Test("of many places some are named, and the others counted where all files were looked at")
    func manySources() {
        let places = NamedSources((1...7).map { task("/home/ana/\($0)") })
        #expect(places.shown.count == 5)
        #expect(places.isWhole(of: 7, scanning: false) && places.others(isWhole: true) == "2 more")
        #expect(!places.isWhole(of: 7, scanning: true) && !places.isWhole(of: 8, scanning: false))
        #expect(places.others(isWhole: false) == "more")
        #expect(NamedSources([task("/home/ana/raw/a", folder: "raw")]).others(isWhole: false) == nil)
    }

    @Test("a row knows its ends by its source, and without that unless a name has an arrow in it")
    func ends() {
        var row = NodeRow(
            id: .task(BatchID(rawValue: 1), TaskID(rawValue: 2)), name: "a", state: .running, counts: FileCounts(),
            bytes: ByteCounts(total: 9, sent: 5, accepted: 0))
        #expect(row.ends == nil)
        row.path = "/home/ana/a -> https://h/in/a"
        #expect(row.ends?.from == "/home/ana/a" && row.ends?.to == "https://h/in/a")
        #expect(row.arrival.sentence { "\($0)" } == "5 sent, the server confirms at the end")
        row.path = "https://h/in/a -> /home/ana/a"
        #expect(row.arrival.sentence { "\($0)" } == "5 received")
        row.path = "/home/a -> b -> https://h/in/a"
        #expect(row.ends == nil)
        for (from, to) in [("/home/a -> b", "https://h/in/a -> b"), ("https://h/a -> b", "/home/a -> b")] {
            row.source = RawPath(from)
            row.path = "\(from) -> \(to)"
            #expect(row.ends?.from == from && row.ends?.to == to)
        }
        row.source = RawPath("/home/x\n")
        row.path = "/home/x\\x0a -> https://h/in/x"
        #expect(row.ends?.from == "/home/x\\x0a" && row.ends?.to == "https://h/in/x")
        // A folder without a source on this machine.
        row.source = RawPath("https://h/in/a -> b/")
        row.path = "https://h/in/a -> b/"
        #expect(row.ends?.from == nil && row.ends?.to == row.path)
    }
}
