import Testing
import TransferModel

@testable import TransferProtocols

/// `w` waits, `r` runs (with its exchange), `c` is completed; then the bytes that are held, in MiB.
private func brief(_ machine: some ProtocolMachine) -> [String] {
    machine.partStandings.map { part in
        let id = part.exchange.map { "\($0.rawValue)" } ?? ""
        return "\(part.state.rawValue.first!)\(id) \(part.held / mebibyte)/\(part.bytes / mebibyte)"
    }
}

@Suite struct PartStandingTests {
    @Test("S3's parts are waiting, on their way, or there")
    func s3() {
        var script = s3Begun()
        func states(_ script: S3Script) -> [String] { brief(script.machine).map { String($0.prefix(2)) } }
        #expect(states(script) == ["r3", "r4", "w ", "w "])
        _ = script.end(4, 200, ["ETag: \(tag(part(2, of: fourParts)))"])
        #expect(states(script) == ["r3", "c ", "r5", "w "])
        #expect(script.machine.partStandings.reduce(0) { $0 + $1.bytes } == fourParts)
        #expect(brief(S3Script(s3Plan(size: 1000)).machine) == [])
    }

    @Test("tus's parts tell what the server has of each")
    func tus() {
        var facts = HostFacts()
        facts.tusExtensions = ["creation", "concatenation"]
        let size = 64 * mebibyte
        let plan = TusPlan(endpoint: HTTPAddress("http://h/files/")!, subject: subject(size), facts: facts, parts: 2)
        var drive = Drive(TusUpload(plan))
        _ = drive.begin()
        #expect(brief(drive.machine) == ["r1 0/32", "r2 0/32"])
        _ = drive.end(answered(201, ["Location: /files/b"], sent: 0), of: 2)
        #expect(brief(drive.machine) == ["r1 0/32", "w 0/32"])
        _ = drive.end(answered(201, ["Location: /files/a"], sent: 0), of: 1)
        _ = drive.end(answered(204, ["Upload-Offset: \(size / 2)"], sent: size / 2), of: 4)
        #expect(brief(drive.machine) == ["r3 0/32", "c 32/32"])
        var whole = plan
        whole.parts = 1
        var single = Drive(TusUpload(whole))
        _ = single.begin()
        #expect(brief(single.machine) == [])
    }

    @Test("Nextcloud's chunks stand in the file's order, whatever was sent first")
    func nextcloud() {
        let plan = NextcloudPlan(
            address: HTTPAddress("https://c/remote.php/dav/files/u/d/f")!, subject: subject(25 * mebibyte),
            facts: HostFacts(), resume: nil, chunk: 10 * mebibyte, parallel: 2)
        var play = HTTPPlay(NextcloudUpload(plan))
        for end in [answered(404), answered(201)] { play.end(end) }
        play.end(answered(201, sent: 10 * mebibyte), of: "/00002")
        let brief = brief(play.machine)
        #expect(brief.map { $0.first } == ["r", "c", "r"])
        #expect(brief.map { $0.split(separator: "/").last } == ["10", "10", "5"])
    }
}
