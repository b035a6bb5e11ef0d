import DisplayText
import TestSupport
import Testing

@Suite("The width of text is known before it is drawn")
struct WidthTests {
    @Test("names have the width that a terminal gives them")
    func examples() {
        #expect(SafeText("IMG_0412.CR3").width == 12)
        #expect(SafeText("日本語").width == 6)
        #expect(SafeText("e\u{301}").width == 1)
        #expect(SafeText("❤\u{FE0F}").width == 1)
        #expect(SafeText("👨\u{200D}👩\u{200D}👧").width == 2)
        #expect(SafeText("🇯🇵").width == 2)
        #expect(SafeText("\u{1112}\u{1161}\u{11AB}").width == 2)
        #expect(SafeText("\u{202E}").width == 8)
    }

    @Test("a long name loses its middle and keeps its ending")
    func shortened() {
        let name = SafeText("Invoice 2024-0007 final.pdf")
        #expect(name.shortened(to: 12).string == "Invoic~l.pdf")
        #expect(name.shortened(to: 12, mark: "…").string == "Invoic…l.pdf")
        #expect(name.shortened(to: 27) == name)
        #expect(name.shortened(to: 4).string == "In~f")
        #expect(name.shortened(to: 3).string == "Inv")
        #expect(name.shortened(to: 1).string == "I")
        #expect(name.shortened(to: 0).string == "")
        #expect(SafeText("日本語日本語").shortened(to: 8).string == "日本~語")
        #expect(SafeText("日本語").shortened(to: 1).string == "")
    }

    @Test("a column is filled exactly, on either side")
    func fitted() {
        #expect(SafeText("71.2M").fitted(to: 7, .right).string == "  71.2M")
        #expect(SafeText("raw/").fitted(to: 7).string == "raw/   ")
        #expect(SafeText("日本語日本語").fitted(to: 8).string == "日本~語 ")
        #expect(SafeText("日本語").fitted(to: 3, .right).string == " 日")
    }

    @Test("no cut ever splits a wide character or passes the column")
    func property() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<5_000 {
            let text = SafeText(random.hostileBytes())
            let cells = Int.random(in: 0...60, using: &random)
            let short = text.shortened(to: cells)
            #expect(short.width <= cells)
            #expect(short.width >= min(text.width, cells) - 2)
            #expect(text.fitted(to: cells, .right).width == cells)
            #expect(text.beginning(of: cells).width + text.ending(of: max(0, text.width - cells)).width <= text.width)
            #expect(short.width == short.glyphs.reduce(0) { $0 + Int($1.width) })
        }
    }
}
