import TestSupport
import Testing

@testable import Terminal

@Suite("Keys are decoded from bytes")
struct KeyDecoderTests {
    private let start = ContinuousClock.now

    private func decode(_ text: String) -> [String] { decode(Array(text.utf8)) }

    private func decode(_ bytes: [UInt8]) -> [String] {
        var decoder = KeyDecoder()
        let inputs = decoder.feed(bytes, at: start) + decoder.expire(at: start + .seconds(9))
        #expect(decoder.nextDeadline == nil)
        return inputs.map(describe)
    }

    @Test("every form of a key is that key")
    func forms() {
        // Not arguments of the test, because the test's log would print them raw.
        let rows: [(String, [String])] = [
            ("a", ["a"]), ("A ", ["A", "Space"]), ("é日😀", ["é", "日", "😀"]),
            ("\r\t\u{7F}\u{8}", ["Enter", "Tab", "Backspace", "Backspace"]),
            ("\u{0}\u{4}\u{1A}\u{1C}\u{1F}", ["C-Space", "^D", "^Z", "^\\", "^_"]),
            ("\u{1B}", ["Esc"]), ("\u{1B}\u{1B}", ["Esc", "Esc"]),
            ("\u{1B}[A\u{1B}[B\u{1B}[C\u{1B}[D\u{1B}[H\u{1B}[F", ["Up", "Down", "Right", "Left", "Home", "End"]),
            ("\u{1B}OA\u{1B}OB\u{1B}OC\u{1B}OD\u{1B}OH\u{1B}OF", ["Up", "Down", "Right", "Left", "Home", "End"]),
            ("\u{1B}[1~\u{1B}[4~\u{1B}[7~\u{1B}[8~", ["Home", "End", "Home", "End"]),
            ("\u{1B}[2~\u{1B}[3~\u{1B}[5~\u{1B}[6~", ["Ins", "Del", "PgUp", "PgDn"]),
            ("\u{1B}OP\u{1B}[11~\u{1B}[[A\u{1B}[P\u{1B}[[E", ["F1", "F1", "F1", "F1", "F5"]),
            ("\u{1B}OS\u{1B}[15~\u{1B}[21~\u{1B}[24~\u{1B}[34~", ["F4", "F5", "F10", "F12", "F20"]),
            ("\u{1B}[1;2A\u{1B}[1;5D\u{1B}[1;3C\u{1B}[3;5~", ["S-Up", "C-Left", "M-Right", "C-Del"]),
            ("\u{1B}[1;2R\u{1B}[1;5P\u{1B}O5A\u{1B}[a\u{1B}[7^", ["S-F3", "C-F1", "C-Up", "S-Up", "C-Home"]),
            ("\u{1B}[Z\u{1B}x\u{1B}é\u{1B}\r\u{1B}\u{7F}", ["S-Tab", "M-x", "M-é", "M-Enter", "M-Backspace"]),
            ("\u{1B}[97;5u\u{1B}[27u\u{1B}[13;2u\u{1B}[27;5;9~", ["^A", "Esc", "S-Enter", "C-Tab"]),
            ("\u{1B}[97;1:3u\u{1B}[1;1:3A\u{1B}[57441u", []),
            ("\u{1B}OM\u{1B}Op\u{1B}Oy\u{1B}Ok\u{1B}Oj", ["Enter", "0", "9", "+", "*"]),
            ("\u{1B}[I\u{1B}[O", ["focus true", "focus false"]),
            ("\u{1B}[", ["M-["]), ("\u{1B}O", ["M-O"]),
            ("\u{1B}]x\u{1B}Px\u{1B}_x", ["M-]", "x", "M-P", "x", "M-_", "x"]),
        ]
        for (bytes, keys) in rows { #expect(decode(bytes) == keys, "\(keys)") }
    }

    @Test("what is no key is never typed")
    func swallowed() {
        let answers = [
            "\u{1B}[?62;22c", "\u{1B}[>41;370;0c", "\u{1B}[24;80R", "\u{1B}[?2026;2$y", "\u{1B}[8;24;80t",
            "\u{1B}]11;rgb:1e1e/1e1e/1e1e\u{7}", "\u{1B}]11;rgb:1e1e/1e1e/1e1e\u{1B}\\", "\u{1B}P>|tmux 3.3a\u{1B}\\",
            "\u{1B}P1$r0m\u{1B}\\", "\u{1B}_Gi=31;OK\u{1B}\\", "\u{1B}[?1u", "\u{1B}[M !!", "\u{1B}[<0;5;5m",
            "\u{1B}[<35;5;5M",
            "\u{1B}[1;2;3;4;5x", "\u{1B}Oz", "\u{1B}[201~",
        ]
        for bytes in answers { #expect(decode(bytes + "k") == ["k"], "\(bytes.dropFirst())") }
    }

    @Test("broken bytes are dropped, and the next key is whole")
    func broken() {
        #expect(decode([0xFF, 0xC0, 0x80, 0x6A]) == ["j"])
        #expect(decode([0xE3, 0x81, 0x6A]) == ["j"])
        #expect(decode([0xED, 0xA0, 0x80, 0x6A]) == ["j"])
        #expect(decode([0xC1, 0xA1, 0xE0, 0x81, 0x81, 0x6A]) == ["j"])
        #expect(decode("\u{1B}[1;5\rj") == ["Enter", "j"])
        #expect(decode("\u{1B}[1;5\u{1B}[Aj") == ["Up", "j"])
        #expect(decode("\u{1B}[" + String(repeating: "1;", count: 400) + "Aj") == ["j"])
        #expect(decode("\u{1B}[99999999999999999999999999;3Aj") == ["M-Up", "j"])
    }

    @Test("mouse presses are reported beyond column 223; motion and releases are not")
    func mouse() {
        #expect(decode("\u{1B}[<0;250;5M") == ["left 4,249"])
        #expect(decode("\u{1B}[<2;1;1M\u{1B}[<1;1;1M") == ["right 0,0", "middle 0,0"])
        #expect(decode("\u{1B}[<64;3;4M\u{1B}[<65;3;4M") == ["wheelUp 3,2", "wheelDown 3,2"])
        #expect(decode("\u{1B}[<16;1;1M") == ["left 0,0 control"])
        #expect(decode("\u{1B}[<0;0;0M") == ["left 0,0"])
        #expect(decode("\u{1B}[<66;1;1M\u{1B}[<128;1;1M\u{1B}[<0;1M") == [])
    }

    @Test("a paste is text, whatever is in it")
    func paste() {
        #expect(decode("\u{1B}[200~rm -rf\r\nx\u{1B}[201~q") == ["paste rm -rf\nx", "q"])
        #expect(decode("\u{1B}[200~a\u{1B}[Ab\u{1B}[200~\u{3}\tc\u{1B}[201~") == ["paste a[Ab[200~\tc"])
        #expect(decode("\u{1B}[200~\u{1B}[201\u{1B}[201~") == ["paste [201"])
        #expect(decode("\u{1B}[200~") == ["paste (incomplete)"])
        #expect(
            decode([0x1B, 0x5B, 0x32, 0x30, 0x30, 0x7E, 0xFF, 0x1B, 0x5B, 0x32, 0x30, 0x31, 0x7E]) == ["paste \u{FFFD}"]
        )
    }

    @Test("a paste beyond its limit is cut, not typed")
    func longPaste() {
        var limits = KeyDecoder.Limits()
        limits.pasteBytes = 5
        var decoder = KeyDecoder(limits: limits)
        let inputs = decoder.feed("\u{1B}[200~123456789\u{1B}[201~q".utf8, at: start)
        #expect(inputs.map(describe) == ["paste 12345(incomplete)", "q"])
    }

    @Test("Esc alone is a key after 25 ms and not before")
    func escape() {
        var decoder = KeyDecoder()
        #expect(decoder.feed([0x1B], at: start) == [])
        #expect(decoder.nextDeadline == start + .milliseconds(25))
        #expect(decoder.expire(at: start + .milliseconds(24)) == [])
        #expect(decoder.expire(at: start + .milliseconds(25)) == [.key(KeyPress(.escape))])
        #expect(decoder.nextDeadline == nil)
    }

    @Test("a sequence whose Esc was reported already is still the key that was meant")
    func splitByTheLine() {
        for (rest, key) in [
            ("OD", "Left"), ("[D", "Left"), ("OP", "F1"), ("OR", "F3"), ("OF", "End"), ("[3~", "Del"), ("OM", "Enter"),
        ] {
            var decoder = KeyDecoder()
            var inputs = decoder.feed([0x1B], at: start)
            inputs += decoder.feed(rest.utf8, at: start + .milliseconds(60))
            #expect(inputs.map(describe) == ["Esc", key])
        }
        var decoder = KeyDecoder()
        var inputs = decoder.feed([0x1B], at: start)
        inputs += decoder.expire(at: start + .milliseconds(30))
        inputs += decoder.feed("[200~x\u{1B}[201~".utf8, at: start + .milliseconds(90))
        #expect(inputs.map(describe) == ["Esc", "paste x"])
    }

    @Test("typing behind Esc is typing")
    func typingBehindEscape() {
        var decoder = KeyDecoder()
        var inputs = decoder.feed([0x1B], at: start)
        inputs += decoder.feed("[".utf8, at: start + .milliseconds(100))
        #expect(decoder.nextDeadline == start + .milliseconds(125))
        inputs += decoder.feed("D".utf8, at: start + .milliseconds(200))
        #expect(inputs.map(describe) == ["Esc", "[", "D"])

        decoder = KeyDecoder()
        inputs = decoder.feed([0x1B], at: start)
        inputs += decoder.feed("j[D".utf8, at: start + .milliseconds(100))
        #expect(inputs.map(describe) == ["Esc", "j", "[", "D"], "something came between")

        decoder = KeyDecoder()
        inputs = decoder.feed([0x1B], at: start)
        inputs += decoder.feed("[D".utf8, at: start + .milliseconds(900))
        #expect(inputs.map(describe) == ["Esc", "[", "D"], "too late to belong together")
    }

    @Test("a sequence cut in the middle is waited for, then dropped, never typed")
    func unfinished() {
        var decoder = KeyDecoder()
        #expect(decoder.feed("\u{1B}[1;".utf8, at: start) == [])
        #expect(decoder.feed("5D".utf8, at: start + .milliseconds(400)).map(describe) == ["C-Left"])
        #expect(decoder.feed("\u{1B}[1;".utf8, at: start) == [])
        #expect(decoder.expire(at: start + .milliseconds(500)) == [])
        #expect(decoder.feed("j".utf8, at: start + .milliseconds(600)).map(describe) == ["j"])
    }

    @Test("the same bytes give the same input wherever they are cut")
    func property() {
        var random = SeededGenerator(seed: 99)
        for _ in 0..<20_000 {
            let bytes = random.typing()
            var whole = KeyDecoder()
            let expected = whole.feed(bytes, at: start) + whole.expire(at: start + .seconds(9))
            var decoder = KeyDecoder()
            var now = start
            var inputs: [Input] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...min(4, rest.count), using: &random)
                inputs += decoder.feed(rest.prefix(count), at: now)
                rest = rest.dropFirst(count)
                now += .milliseconds(Int.random(in: 0..<25, using: &random))
                inputs += decoder.expire(at: now)
            }
            inputs += decoder.expire(at: now + .seconds(9))
            if inputs != expected { Issue.record("\(bytes): \(inputs) and not \(expected)") }
        }
    }

    @Test("no byte of a paste ever becomes a key, with any delay below the limit")
    func noKeyFromPaste() {
        var random = SeededGenerator(seed: 4)
        for _ in 0..<5_000 {
            var content = random.typing()
            // The terminal takes the end mark out of what is pasted.
            while let mark = content.firstRange(of: Array("\u{1B}[201~".utf8)) { content.removeSubrange(mark) }
            var decoder = KeyDecoder()
            var now = start
            var inputs = decoder.feed("\u{1B}[200~".utf8, at: now)
            for byte in content + Array("\u{1B}[201~".utf8) {
                now += .milliseconds(Int.random(in: 0..<1_900, using: &random))
                inputs += decoder.feed([byte], at: now)
            }
            inputs.removeAll { if case .paste = $0 { true } else { false } }
            if !inputs.isEmpty { Issue.record("\(content): \(inputs)") }
        }
    }

    @Test("names of keys are read as they are written")
    func names() {
        let presses = [
            KeyPress(.up, .shift), KeyPress(.character("x")), KeyPress(.character("X")), .control("d"),
            KeyPress(.function(10)), KeyPress(.character(" ")), KeyPress(.character(" "), .control),
            KeyPress(.enter, .alt), KeyPress(.character("^")), KeyPress(.character("-")), KeyPress(.delete),
            KeyPress(.left, [.control, .shift, .alt]), KeyPress(.character("é"), .alt),
        ]
        for press in presses { #expect(KeyPress(name: press.name) == press, "\(press.name)") }
        #expect(KeyPress(name: "C-d") == .control("d"))
        #expect(KeyPress(name: "Ctrl-D") == .control("d"))
        #expect(KeyPress(name: "f7") == KeyPress(.function(7)))
        for wrong in ["", "F99", "Nothing", "xy", "S-", "\u{1B}", " "] {
            #expect(KeyPress(name: wrong) == nil, "\(wrong)")
        }
    }

    private func describe(_ input: Input) -> String {
        switch input {
        case .key(let press): return press.name
        case .focus(let has): return "focus \(has)"
        case .closed: return "closed"
        case .paste(let paste):
            return "paste " + String(decoding: paste.bytes, as: UTF8.self) + (paste.isIncomplete ? "(incomplete)" : "")
        case .mouse(let press):
            let held = press.modifiers == .control ? " control" : ""
            return "\(press.button) \(press.position.row),\(press.position.column)\(held)"
        }
    }
}

extension SeededGenerator {
    /// What a keyboard, a mouse and a bad line may send.
    mutating func typing() -> [UInt8] {
        let pieces = [
            "\u{1B}", "\u{1B}[", "\u{1B}O", "A", "D", "~", "1", ";", "5", "[", "O", "M", "<", "\u{1B}[A", "\u{1B}OD",
            "\u{1B}[1;5D", "\u{1B}[<0;5;5M", "\u{1B}[3~", "\u{1B}[200~", "\u{1B}[201~", "x", "q", "\r", "\u{7F}", "é",
            "日",
            "\u{1B}]11;rgb\u{7}", "\u{1B}P>|x\u{1B}\\", "\u{1B}[[A", "\u{1B}[M", "\u{1B}[?1;2c", "\u{3}", "u", "27",
        ]
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 0...9, using: &self) {
            if Int.random(in: 0..<6, using: &self) == 0 {
                bytes.append(UInt8.random(in: 0...255, using: &self))
            } else {
                bytes += pieces[Int.random(in: 0..<pieces.count, using: &self)].utf8
            }
        }
        return bytes
    }
}
