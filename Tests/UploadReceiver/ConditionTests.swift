import Testing

@testable import UploadReceiver

private let facts = FileFacts(inode: 7, size: 10, modifiedNanoseconds: 1_000_000_000_123_456_789)
private let tag = facts.tag.field

@Suite("Conditions")
struct ConditionTests {
    @Test(
        "If-Match and If-None-Match for a file that is there",
        arguments: [
            (["if-match": "*"], .met, .met), (["if-match": tag], .met, .met),
            (["if-match": "\"x\", \(tag)"], .met, .met), (["if-match": "\"x\""], .failed, .failed),
            (["if-match": "W/\(tag)"], .failed, .failed), (["if-none-match": "*"], .notModified, .failed),
            (["if-none-match": tag], .notModified, .failed), (["if-none-match": "W/\(tag)"], .notModified, .failed),
            (["if-none-match": "\"a,b\", \"x\""], .met, .met), ([:], .met, .met),
            (["if-match": tag, "if-none-match": "*"], .notModified, .failed),
        ] as [(KeyValuePairs<String, String>, Preconditions.Outcome, Preconditions.Outcome)])
    func present(
        fields: KeyValuePairs<String, String>, read: Preconditions.Outcome, write: Preconditions.Outcome
    ) throws {
        let conditions = try #require(Preconditions(RequestFields(fields)))
        #expect(conditions.outcome(of: facts, isRead: true) == read)
        #expect(conditions.outcome(of: facts, isRead: false) == write)
    }

    @Test(
        "the same for a file that is not there",
        arguments: [
            (["if-match": "*"], .failed), (["if-match": tag], .failed), (["if-none-match": "*"], .met),
            (["if-none-match": tag], .met), (["if-unmodified-since": "Sun, 06 Nov 1994 08:49:37 GMT"], .met),
        ] as [(KeyValuePairs<String, String>, Preconditions.Outcome)])
    func absent(fields: KeyValuePairs<String, String>, outcome: Preconditions.Outcome) throws {
        let conditions = try #require(Preconditions(RequestFields(fields)))
        #expect(conditions.outcome(of: nil, isRead: false) == outcome)
    }

    @Test("dates count to the second, and only where no tag decides")
    func dates() throws {
        let same = facts.modified.field
        let earlier = HTTPDate(secondsSince1970: facts.modified.secondsSince1970 - 1).field
        func outcome(_ fields: KeyValuePairs<String, String>, isRead: Bool = true) throws -> Preconditions.Outcome {
            try #require(Preconditions(RequestFields(fields))).outcome(of: facts, isRead: isRead)
        }
        #expect(try outcome(["if-modified-since": same]) == .notModified)
        #expect(try outcome(["if-modified-since": earlier]) == .met)
        #expect(try outcome(["if-modified-since": same], isRead: false) == .met)
        #expect(try outcome(["if-modified-since": same, "if-none-match": "\"x\""]) == .met)
        #expect(try outcome(["if-unmodified-since": same]) == .met)
        #expect(try outcome(["if-unmodified-since": earlier], isRead: false) == .failed)
        #expect(try outcome(["if-unmodified-since": earlier, "if-match": tag], isRead: false) == .met)
        #expect(try outcome(["if-modified-since": "yesterday"]) == .met)
    }

    @Test(
        "a tag condition that cannot be read is an error, not ignored",
        arguments: ["abc", "", "\"a\" \"b", "W/", "a, *"])
    func malformed(field: String) {
        #expect(Preconditions(RequestFields(["If-Match": field])) == nil)
        #expect(Preconditions(RequestFields(["if-none-match": field])) == nil)
    }

    @Test("If-Range holds for the strong tag or the exact date only")
    func ifRange() {
        #expect(RangeCondition.holds(nil, for: facts))
        #expect(RangeCondition.holds(tag, for: facts))
        #expect(!RangeCondition.holds("W/" + tag, for: facts))
        #expect(!RangeCondition.holds("\"x\"", for: facts))
        #expect(RangeCondition.holds(facts.modified.field, for: facts))
        #expect(!RangeCondition.holds(HTTPDate(secondsSince1970: 1).field, for: facts))
        #expect(!RangeCondition.holds("garbage", for: facts))
    }

    @Test("a tag changes with inode, size and a nanosecond")
    func tags() {
        let others = [
            FileFacts(inode: 8, size: 10, modifiedNanoseconds: facts.modifiedNanoseconds),
            FileFacts(inode: 7, size: 11, modifiedNanoseconds: facts.modifiedNanoseconds),
            FileFacts(inode: 7, size: 10, modifiedNanoseconds: facts.modifiedNanoseconds + 1),
        ]
        #expect(Set(others.map(\.tag.opaque) + [facts.tag.opaque]).count == 4)
    }

    @Test("no two files are published with the same time")
    func clock() {
        let times = (0..<10_000).map { _ in PublicationClock.next() }
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    }
}

@Suite("Dates of HTTP")
struct HTTPDateTests {
    @Test(
        "RFC 9110's three forms are the same instant",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        ])
    func forms(field: String) {
        #expect(HTTPDate(field: field)?.secondsSince1970 == 784_111_777)
    }

    @Test(
        "an instant is written in the preferred form and read back",
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
        ] as [(Int64, String)])
    func written(seconds: Int64, field: String) {
        #expect(HTTPDate(secondsSince1970: seconds).field == field)
        #expect(HTTPDate(field: field)?.secondsSince1970 == seconds)
    }

    @Test(
        "what is no date is none",
        arguments: [
            "", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
            "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 99999999999999999999 08:49:37 GMT",
        ])
    func refused(field: String) {
        #expect(HTTPDate(field: field) == nil)
    }

    @Test("days of four centuries keep their places")
    func days() {
        var previous = ""
        for day in stride(from: Int64(-36_524), to: 110_000, by: 13) {
            let date = HTTPDate(secondsSince1970: day * 86_400)
            let field = date.field
            #expect(HTTPDate(field: field) == date)
            #expect(field != previous)
            previous = field
        }
    }
}
