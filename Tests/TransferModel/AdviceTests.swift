import FoundationEssentials
import Testing
import TransferModel

@Suite("Advice is words with commands in them, written once")
struct AdviceTests {
    private let batch = NodeID.batch(BatchID(rawValue: 7))

    @Test("a command is written as a shell takes it")
    func commands() {
        #expect(AdvisedCommand.retry(batch).text == "martlet retry b7")
        #expect(AdvisedCommand.set(batch, "--header", "K: V").text == "martlet set b7 --header 'K: V'")
        #expect(
            AdvisedCommand("session set", [], ["x; curl evil|sh #", "--limit", "off"]).text
                == "martlet session set 'x; curl evil|sh #' --limit off")
        #expect(AdvisedCommand.limit("off", "--host", "a$(b)").text == "martlet limit off --host 'a$(b)'")
        #expect(AdvisedCommand("engine start").text == "martlet engine start")
        #expect(AdvisedCommand.limit("off", "--host", "nas").text == "martlet limit off --host nas")
    }

    @Test("a folder's name may have blanks and quotes")
    func folders() {
        let node = NodeID.folder(BatchID(rawValue: 7), path: RawPath("my sister's photos"))
        #expect(node.written == #"'b7:my sister'\''s photos'"#)
        #expect(AdvisedCommand.resume(node, batch).text == #"martlet resume 'b7:my sister'\''s photos' b7"#)
        #expect(NodeID.folder(BatchID(rawValue: 7), path: RawPath("raw/2024")).written == "b7:raw/2024")
        // With a mark behind it a quote is no `Character` of its own.
        let marked = NodeID.folder(BatchID(rawValue: 7), path: RawPath("a'\u{301};touch x;'\u{301}"))
        #expect(marked.written.utf8.elementsEqual("'b7:a'\\''\u{301};touch x;'\\''\u{301}'".utf8))
        #expect(
            AdvisedCommand.limit("off", "--host", "\u{D4E};x").text.utf8.elementsEqual(
                "martlet limit off --host '\u{D4E};x'".utf8))
    }

    @Test("a folder that is shown in another way than it is is advised by its bytes, so that no other folder is named")
    func hiddenNames() {
        func written(_ path: [UInt8]) -> String { NodeID.folder(BatchID(rawValue: 7), path: RawPath(path)).written }
        #expect(written(Array("a\nb'".utf8)) == #"$'b7:a\012b\047'"#)
        #expect(written([0xFF, 0x37]) == #"$'b7:\3777'"#)
        #expect(written(Array(#"a\x0ab"#.utf8)) == #"'b7:a\x0ab'"#)
        #expect(
            AdvisedCommand.retry(.folder(BatchID(rawValue: 7), path: RawPath("\u{202E}gpj"))).text
                == #"martlet retry $'b7:\342\200\256gpj'"#)
    }

    @Test("written another way a command loses the quotes that were for the shell")
    func unquoted() {
        let advice: Advice = "\(batch) is paused: \(quoted: .resume(batch)), or not"
        #expect(advice.text == "b7 is paused: 'martlet resume b7', or not")
        #expect(advice.written { $0.verb == "resume" ? "p" : nil } == "b7 is paused: p, or not")
        #expect(advice.written { _ in nil } == advice.text)
    }

    @Test("advice inside of advice keeps its commands; where nothing is to be done that is said first")
    func parts() {
        let inner: Advice = "\(.runNow(batch)) starts it"
        let advice = Advice.idle("wait, or \(inner)")
        #expect(advice.text == "nothing to do; wait, or martlet run-now b7 starts it")
        #expect(advice.written() == "wait, or martlet run-now b7 starts it")
        #expect(advice.commands == [.runNow(batch)])
        #expect(advice.loneCommand == nil)
        let lone: Advice = "\(.retry(batch))"
        #expect(lone.loneCommand == .retry(batch))
    }

    @Test("advice keeps its commands in JSON; words alone are not told twice")
    func stored() throws {
        let folder = NodeID.folder(BatchID(rawValue: 7), path: RawPath("a b"))
        let all: [Advice] = [
            "look there", "\(.retry(batch))", .idle("\(.set(folder, "--limit", "off")) and wait"),
            "its folder is paused: \(quoted: .resume(folder))",
        ]
        for advice in all {
            #expect(try JSONDecoder().decode(Advice.self, from: try JSONEncoder().encode(advice)) == advice)
        }
        #expect(all.map { $0.told == nil } == [true, false, false, false])
    }
}
