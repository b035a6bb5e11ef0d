import Testing
import WireOperations

@testable import TransferProtocols

@Suite struct StructuredFieldTests {
    @Test("an integer is up to fifteen digits with a sign, and parameters behind it are passed over")
    func integers() {
        let good: [(String, Int64)] = [
            ("0", 0), (" 42 ", 42), ("-17", -17), ("999999999999999", 999_999_999_999_999), ("5;a;b=?1", 5),
        ]
        for (text, value) in good { #expect(StructuredField.integer(text) == value) }
        for text in ["", "1.0", "1e3", "0x10", "9999999999999999", "1 2", "--1", "-", "\"1\"", "1,2", "a", "٣"] {
            #expect(StructuredField.integer(text) == nil, "\(text)")
        }
    }

    @Test("a Boolean is ?0 or ?1 and nothing else")
    func booleans() {
        #expect(StructuredField.boolean("?1") == true)
        #expect(StructuredField.boolean("?0;x=1") == false)
        for text in ["", "1", "true", "?2", "?", "?1 ?0", "?10"] {
            #expect(StructuredField.boolean(text) == nil, "\(text)")
        }
    }

    @Test("a dictionary holds any kind of item; the last of two equal keys counts")
    func dictionaries() {
        let text = "a=1, b;p=2,c=?0 , d=\"x, \\\"y\", e=(1 \"z\";q), f=:AA==:, g=1.5, *h=tok/en, i=@17, a=2"
        #expect(
            StructuredField.dictionary(text) == [
                "a": .integer(2), "b": .boolean(true), "c": .boolean(false), "d": .other, "e": .other, "f": .other,
                "g": .other, "*h": .other, "i": .other,
            ])
        #expect(StructuredField.dictionary("") == [:])
    }

    @Test(
        "a broken dictionary says nothing at all",
        arguments: [
            "a=1,", "a=1 b=2", ",a", "A=1", "a=", "a=\"x", "a=(1", "a=:x", "a=1;", "a=1;=2", "a==1", "a=\"\u{e9}\"",
            "a=(1\"x\")", "a=1.2345", "a=@1.5",
        ])
    func broken(text: String) {
        #expect(StructuredField.dictionary(text) == nil)
    }

    @Test("bytes that no one meant never stop the parser")
    func anyBytes() {
        var state: UInt64 = 1
        let alphabet = Array("a=1,;?\"\\:()*@. -x\u{7f}é".unicodeScalars)
        for _ in 0..<20_000 {
            var text = ""
            for _ in 0..<(state >> 60) {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                text.unicodeScalars.append(alphabet[Int(state >> 33) % alphabet.count])
            }
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let members = StructuredField.dictionary(text)
            // What is taken is taken whole: a comma behind it makes it broken.
            if members?.isEmpty == false { #expect(StructuredField.dictionary(text + ",") == nil, "\(text)") }
        }
    }

    @Test("an upload's limits are read; unknown keys are passed over, a known one of another kind voids them all")
    func limits() {
        func limit(_ text: String) -> UploadLimit? {
            UploadLimit(HTTPAnswer(status: 200, headers: fields(["Upload-Limit: " + text])))
        }
        let full = limit("max-size=100, min-size=1, max-append-size=10, min-append-size=5, max-age=60, new=\"x\"")
        #expect(full?.largest == 100)
        #expect(full?.smallest == 1)
        #expect(full?.largestAppend == 10)
        #expect(full?.smallestAppend == 5)
        #expect(full?.age == 60)
        #expect(limit("expires=7")?.age == 7)
        #expect(limit("min-size=0") != nil)
        for text in ["max-size=\"1\"", "max-size", "max-append-size=1.5", "max-size=-1", "max-size=1,,"] {
            #expect(limit(text) == nil, "\(text)")
        }
        #expect(UploadLimit(HTTPAnswer(status: 200)) == nil)
    }
}
