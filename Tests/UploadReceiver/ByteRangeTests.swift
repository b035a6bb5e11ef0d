import Testing

@testable import UploadReceiver

@Suite("Ranges")
struct ByteRangeTests {
    private static func part(_ first: UInt64, _ last: UInt64) -> RangeSelection {
        .part(ByteRange(first: first, last: last))
    }

    @Test(
        "a Range field selects of a file of ten bytes",
        arguments: [
            (nil, .whole), ("bytes=0-0", part(0, 0)), ("bytes=3-", part(3, 9)), ("bytes=3-5", part(3, 5)),
            ("bytes=3-99", part(3, 9)), ("bytes=-4", part(6, 9)), ("bytes=-99", part(0, 9)), ("bytes=9-9", part(9, 9)),
            ("Bytes = 1-2", part(1, 2)), ("bytes=10-", .unsatisfiable), ("bytes=10-12", .unsatisfiable),
            ("bytes=-0", .unsatisfiable), ("bytes=99999999999999999999-", .unsatisfiable),
            ("bytes=0-99999999999999999999", part(0, 9)), ("bytes=18446744073709551615-", .unsatisfiable),
            ("bytes=5-3", .whole), ("bytes=", .whole), ("bytes=-", .whole), ("bytes=a-b", .whole), ("bytes=1", .whole),
            ("bytes=1-2,4-5", .whole), ("bytes=+1-2", .whole), ("bytes=1--2", .whole), ("lines=1-2", .whole),
            ("garbage", .whole),
        ] as [(String?, RangeSelection)])
    func ofTen(field: String?, selection: RangeSelection) {
        #expect(RangeSelection(field: field, size: 10) == selection)
    }

    @Test("nothing of an empty file can be in a range", arguments: ["bytes=0-", "bytes=0-0", "bytes=-1"])
    func ofNothing(field: String) {
        #expect(RangeSelection(field: field, size: 0) == .unsatisfiable)
    }

    @Test("the largest file there could be has a last byte")
    func largest() {
        #expect(RangeSelection(field: "bytes=1-", size: .max) == Self.part(1, .max - 1))
    }
}
