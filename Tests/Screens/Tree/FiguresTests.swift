import Configuration
import DisplayText
import MartletKit
import Testing

@testable import TerminalUI

@Suite("Numbers are short, fit their column and never promise too much")
struct FiguresTests {
    /// Numbers around every power of two and of ten, and the extremes.
    private let interesting: [Int64] = {
        var numbers: [Int64] = [0, 9, 99, -1, .max, .max - 1, .min]
        for power in 0..<63 {
            let two = Int64(1) << Int64(power)
            numbers += [two - 1, two, two + 1]
        }
        var ten: Int64 = 1
        for _ in 0..<18 {
            ten *= 10
            numbers += [ten - 1, ten, ten + 1]
        }
        return numbers
    }()

    @Test("sizes and speeds fit their columns whatever the number", arguments: ScreenConfiguration.Units.allCases)
    func sizes(units: ScreenConfiguration.Units) {
        let figures = Figures(units: units)
        for number in interesting {
            #expect(figures.size(number).utf8.count <= (units == .iec ? 5 : 6), "\(number)")
            #expect(figures.speed(number).utf8.count <= 8, "\(number)")
        }
        #expect(figures.speed(0) == "-")
        #expect(Figures(units: .iec).speed(9_800_000) == "9.3M/s")
    }

    @Test("times have at most two units and five characters, are never negative, and unknown is said")
    func times() {
        let rows: [(Int64?, String)] = [
            (nil, "?"), (-5, "0s"), (0, "0s"), (59, "59s"), (60, "1m"), (90, "1m30s"), (599, "9m59s"), (600, "10m"),
            (3599, "59m"), (3600, "1h"), (7800, "2h10m"), (35_999, "9h59m"), (36_000, "10h"), (86_400, "1d"),
            (302_400, "3d12h"), (863_999, "9d23h"), (864_000, "10d"), (31_536_000, "365d"), (40_000_000, ">1y"),
        ]
        for (seconds, text) in rows { #expect(Figures.timeLeft(seconds) == text) }
        for number in interesting { #expect(Figures.timeLeft(number).utf8.count <= 5, "\(number)") }
        #expect(Figures.timeLeftInWords(600) == "10 min")
        #expect(Figures.timeLeftInWords(7800) == "2 h 10 min")
        #expect(Figures.timeLeftInWords(nil) == "?")
    }

    @Test("counts have their thousands apart, or are shortened to fit")
    func counts() {
        #expect([0, 999, 1000, 12_406, 1_000_000].map(Figures.count) == ["0", "999", "1,000", "12,406", "1,000,000"])
        #expect(Figures.files(2114, of: 10_288) == "2,114/10,288")
        #expect(Figures.files(999_999, of: 1_000_000) == "999k/1000k")
        for number in interesting { #expect(Figures.files(number, of: number).utf8.count <= 13, "\(number)") }
        #expect(Figures.amount(1, "file") == "1 file" && Figures.amount(2, "batch", "batches") == "2 batches")
    }

    @Test("a bar is as wide as asked, full only when complete", arguments: GlyphSet.allCases)
    func bars(set: GlyphSet) {
        for width in 0...40 {
            for part in interesting {
                for whole in [Int64(0), 1, 100, .max] {
                    let bar = Bar.text(part, of: whole, isComplete: false, width: width, set)
                    let full = Bar.text(part, of: whole, isComplete: true, width: width, set)
                    if bar.width != width || full.width != width { Issue.record("\(part) of \(whole) in \(width)") }
                    if bar == full && width > 0 { Issue.record("full: \(part) of \(whole) in \(width)") }
                }
            }
        }
    }

    @Test("a bar of parts fits its width whatever numbers an engine elsewhere tells")
    func barOfParts() {
        for sent in interesting {
            for total in [Int64.min, 0, 1, 100, .max] {
                let part = PartRun(first: 1, last: 1, state: .running, bytesTotal: total, bytesSent: sent)
                let whole = PartRun(first: 2, last: 2, state: .completed, bytesTotal: .max, bytesSent: .max)
                for parts in [[part, part, whole], [whole, part]] {
                    #expect(Bar.text(parts, width: 10, .ascii).width == 10, "\(sent) of \(total)")
                }
            }
        }
    }

    @Test("bars in the three sets")
    func barPictures() {
        #expect(Bar.text(71, of: 100, isComplete: false, width: 10, .ascii).string == "#######...")
        #expect(Bar.text(71, of: 100, isComplete: false, width: 10, .narrow).string == "▮▮▮▮▮▮▮▯▯▯")
        #expect(Bar.text(75, of: 100, isComplete: false, width: 10, .unicode).string == "███████▒░░")
        #expect(Bar.text(1, of: 1, isComplete: true, width: 4, .unicode).string == "████")
        #expect(Bar.text(999, of: 1000, isComplete: false, width: 4, .unicode).string == "███▓")
    }

    @Test("the set of signs follows the locale")
    func glyphSets() {
        let set = { (setting: ScreenConfiguration.Glyphs, characters: CharacterSet, language: String) in
            GlyphSet(setting, characterSet: characters, language: language)
        }
        #expect(set(.auto, .utf8, "de_DE.UTF-8") == .unicode)
        #expect(set(.auto, .utf8, "ja_JP.UTF-8") == .narrow)
        #expect(set(.auto, .ascii, "de_DE") == .ascii)
        #expect(set(.unicode, .ascii, "C") == .ascii, "what the terminal cannot show is not asked for")
        #expect(set(.ascii, .utf8, "C.UTF-8") == .ascii)
    }
}
