import Testing
import TransferModel
import TransferProtocols

/// Numbers of parts in the tags and lists of a service that lies.
@Suite struct S3TagTests {
    private let digest = String(repeating: "a", count: 32)
    private let part = 8 * mebibyte

    /// The words of an upload of so many parts of 8 MiB that finds an object with this tag.
    private func found(_ parts: Int64, tag: String) -> [String] {
        var script = S3Script(s3Plan(size: parts * part), begins: false)
        script.answersDigests = false
        script.tell(.began(at: noon))
        return script.end(1, answered(200, ["Content-Length: \(parts * part)", "ETag: \"\(tag)\""]))
    }

    @Test("an object is compared by as many parts as an object may have, and no more")
    func mostParts() {
        #expect(found(10_000, tag: digest + "-10000") == ["digest 0..<8388608 md5"])
        #expect(found(10_001, tag: digest + "-10001") == ["fail destinationExists 412"])
    }

    @Test(
        "a tag with a number of parts that cannot be is no tag to compare by",
        arguments: ["0", "-1", "-9223372036854775808", "9223372036854775807", "18446744073709551616", "+3", "", "3-3"])
    func impossible(count: String) {
        #expect(found(3, tag: digest + "-" + count) == ["fail destinationExists 412"])
    }

    @Test("a list with a part that no upload has is not believed", arguments: [-1, 0, 10_001, Int64.max])
    func impossibleParts(number: Int64) {
        var script = S3Script(s3Plan(size: fourParts, resume: s3Point(size: fourParts)))
        let said = script.end(1, 200, body: listXML([(number, 5, "x")]))
        #expect(said.count == 1 && said[0].hasPrefix("wait"), "\(said)")
    }
}
