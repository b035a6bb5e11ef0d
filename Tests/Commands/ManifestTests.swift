import CommandLine
import FoundationEssentials
import MartletKit
import Testing

@testable import Commands

@Suite("show --manifest") struct ManifestTests {
    private func task(_ path: String, _ change: (inout TaskSnapshot) -> Void = { _ in }) -> TaskSnapshot {
        var task = TaskSnapshot(
            id: TaskID(rawValue: 5), uuid: UUID(), batch: BatchID(rawValue: 7), session: .default, direction: .upload,
            state: .completed, priority: .normal, name: RawPath("x"), folder: RawPath(""), source: RawPath("/src/x"),
            destination: RawPath("dav://h/in/\(path)"), bytesTotal: 12, createdAt: Timestamp(milliseconds: 0))
        task.verified = .digest
        task.listed = true
        task.etag = "\"e\""
        task.finishedAt = Timestamp(milliseconds: 0)
        task.digest = TransferDigest(algorithm: "sha-256", value: "ab")
        change(&task)
        return task
    }

    @Test("a line has what a program may want, the path last")
    func line() {
        let entry = ManifestEntry(task("a%20b/c"), destination: "dav://h/in/")
        #expect(
            entry.line == "ab\t12\t1970-01-01T00:00:00.000Z\tdigest+listed\t\"e\"\tdav://h/in/a%20b/c\ta b/c")
        let unknown = ManifestEntry(
            task("c") {
                ($0.digest, $0.etag, $0.listed) = (nil, nil, nil)
                $0.verified = .none
            }, destination: "dav://h/in/")
        #expect(unknown.line == "-\t12\t1970-01-01T00:00:00.000Z\tanswered\t-\tdav://h/in/c\tc")
        let told = ManifestEntry(
            task("c") {
                ($0.listed, $0.answered) = (nil, 201)
                $0.verified = .none
            }, destination: "dav://h/in/")
        #expect(told.line.contains("Z\tanswered 201\t") && told.answered == 201)
        let skipped = ManifestEntry(
            task("c") {
                ($0.listed, $0.skipped) = (nil, true)
                $0.verified = .none
            }, destination: "dav://h/in/")
        #expect(skipped.line.contains("Z\tnone\t"))
    }

    @Test("the form for sha256sum escapes as that does, keeps bytes, and leaves out what has no digest")
    func checks() {
        func line(_ path: String) -> String? {
            ManifestEntry(task(path), destination: "dav://h/in/").checkLine.map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(line("a%20b/c") == "ab  a b/c")
        #expect(line("a%0Ab%5C") == "\\ab  a\\nb\\\\")
        let bytes = ManifestEntry(task("%FF"), destination: "dav://h/in/")
        #expect(bytes.checkLine == Array("ab  ".utf8) + [0xFF] && bytes.path == "\\xff")
        #expect(ManifestEntry(task("a") { $0.digest = nil }, destination: "dav://h/in/").checkLine == nil)
        let md5 = task("a") { $0.digest = TransferDigest(algorithm: "md5", value: "ab") }
        #expect(ManifestEntry(md5, destination: "dav://h/in/").checkLine == nil)
        // One file under exactly a name.
        #expect(ManifestEntry(task("name"), destination: "dav://h/in/name").path == "name")
    }

    @Test("a received file is named by its bytes, whatever is shown of it")
    func received() {
        let path = RawPath("/d/a\nb")
        let entry = ManifestEntry(
            task("x") {
                $0.direction = .download
                ($0.finalPath, $0.finalPathBase64) = path.shown
            }, destination: "/d/")
        #expect(entry.checkLine == Array(#"\ab  /d/a\nb"#.utf8))
        #expect(entry.path == #"/d/a\x0ab"# && entry.pathBase64 != nil)
    }
}
