import TestSupport
import Testing
import TransferModel
import WireOperations

@testable import TransferProtocols

private let mebi = 1 << 20
/// One operation's share of the payload on a short line.
private let piece = 255 << 9

@Suite struct SFTPUploadTests {
    // MARK: The usual way

    @Test("a small file takes three round trips and no resume point")
    func small() {
        var story = SFTPStory(1000)
        #expect(story.attempt() == "finish 1000 size")
        #expect(
            story.log == [
                "open part", "write 0..<1000", "time 1234", "size", "close", "accepted 1000", "rename part target",
                "finish 1000 size",
            ])
        #expect(story.isPublished && story.server.files["d/f"]?.modified == 1234)
    }

    @Test("the last file of a batch is synced, however small")
    func lastOfBatch() {
        var story = SFTPStory(1000)
        story.subject.isLastOfBatch = true
        #expect(story.attempt() == "finish 1000 size")
        #expect(story.log.prefix(5) == ["open part", "write 0..<1000", "time 1234", "sync", "size"])
        var without = SFTPStory(1000)
        without.subject.isLastOfBatch = true
        without.server.features.syncs = false
        #expect(without.attempt() == "finish 1000 size" && !without.log.contains("sync"))
    }

    @Test("where a rename might replace, the target is asked for before it; larger files ask before they are sent")
    func askingFirst() {
        var simple = SFTPStory(1000)
        simple.server.features.renamesOver = false
        #expect(simple.attempt() == "finish 1000 size")
        #expect(simple.log.suffix(3) == ["status target", "rename part target", "finish 1000 size"])
        let foreign = FakeSFTPServer.File(bytes: [1, 2], modified: 7)
        simple = SFTPStory(1000)
        simple.server.features.renamesOver = false
        simple.server.files["d/f"] = foreign
        #expect(simple.attempt() == "fail destinationExists")
        #expect(simple.server.files == ["d/f": foreign])
        var larger = SFTPStory(100_000)
        larger.server.files["d/f"] = foreign
        #expect(larger.attempt() == "fail destinationExists")
        #expect(!larger.log.contains { $0.hasPrefix("write") })
    }

    @Test("what a small file leaves when it is broken off is told when it is asked for, and then goes on from there")
    func smallRemains() {
        var story = SFTPStory(1000)
        story.cut = (after: 4, isDone: false)
        #expect(story.attempt().hasPrefix("wait backoff"))
        #expect(story.remains?.temporary == RawPath(SFTPStory.part) && story.resume == nil)
        story.resume = story.remains
        story.cut = nil
        #expect(story.attempt() == "finish 1000 size")
        #expect(story.isPublished && story.remains == nil)
        #expect(story.log.first == "status target")
        // Before anything was opened there is nothing.
        var early = SFTPStory(1000)
        early.cut = (after: 1, isDone: false)
        early.subject.begunBefore = noon
        #expect(early.attempt().hasPrefix("wait") && early.remains == nil)
        // A large file's point is durable before: it is not told twice.
        var large = SFTPStory(2 * mebi)
        large.cut = (after: 4, isDone: false)
        large.attempt()
        #expect(large.resume != nil && large.remains == nil)
    }

    @Test("an empty file is made and named like any other")
    func empty() {
        var story = SFTPStory(0, ifExists: .replace)
        #expect(story.attempt() == "finish 0 size")
        #expect(story.log == ["open part", "time 1234", "size", "close", "replace part target", "finish 0 size"])
        #expect(story.isPublished)
    }

    @Test("a large file's temporary name is durable before its first byte; pieces go four at a time; it is synced")
    func large() {
        var story = SFTPStory(10 * piece)
        #expect(story.attempt() == "finish 1305600 size")
        let writes = (0..<10).map { "write \($0 * piece)..<\(($0 + 1) * piece)" }
        let acknowledged = (1...10).map { "accepted \($0 * piece)" }
        var expected = ["status target", "open part", "persist"] + writes[..<4]
        for (told, write) in zip(acknowledged, writes[4...]) { expected += [told, write] }
        expected += ["time 1234", "sync", "size", "close"] + acknowledged[6...]
        expected += ["persist", "rename part target", "finish 1305600 size"]
        #expect(story.log == expected)
        #expect(story.isPublished)
    }

    @Test("a long line gets more on its way, and the resume point says so before")
    func longLine() {
        var story = SFTPStory(40 * mebi)
        story.server.lineWindow = 100 << 20
        #expect(story.attempt() == "finish 41943040 size")
        var (acknowledged, points, widest): (Int64, Int64, Int64) = (0, 0, 0)
        for line in story.log {
            let words = line.split(separator: " ")
            if line == "persist" { points += 1 }
            if words.first == "accepted" { acknowledged = Int64(words[1]) ?? 0 }
            guard words.first == "write", let end = words[1].split(separator: "<").last.flatMap({ Int64($0) }) else {
                continue
            }
            let reach = min(SFTPUpload.leastReach << (points - 1), SFTPUpload.mostReach)
            #expect(end - acknowledged <= reach, "\(line)")
            widest = max(widest, end - acknowledged)
        }
        #expect(widest > SFTPUpload.mostReach * 3 / 4 && story.resume?.reach == SFTPUpload.mostReach)
        #expect(story.isPublished)
        // What would not need it is not told.
        var short = SFTPStory(9 * piece)
        short.server.lineWindow = 100 << 20
        #expect(short.attempt() == "finish 1175040 size" && short.resume?.reach == 2 * SFTPUpload.leastReach)
    }

    @Test(
        "a missing folder is made; one that cannot be made is told",
        .tells(
            "h does not allow us to make the folder (Permission denied)",
            "h does not take this name (No such file): check the address, or queue it again under another name"))
    func folder() {
        var story = SFTPStory(10)
        story.server.folders = []
        #expect(story.attempt() == "finish 10 size")
        #expect(story.log.contains("folders d") && story.isPublished)
        for (refusal, expected) in [
            ((SFTPStatus.permissionDenied, "Permission denied"), "fail permissionDenied"),
            ((.failure, "a file is there"), "fail destinationUnwritable"),
        ] {
            var story = SFTPStory(10)
            story.server.folders = []
            story.server.refuses["makeFolders"] = refusal
            #expect(story.attempt() == expected)
        }
        var stubborn = SFTPStory(10)
        stubborn.server.refuses["openForWriting"] = (.noSuchFile, "No such file")
        #expect(stubborn.attempt() == "fail destinationUnwritable")
    }

    // MARK: What is there

    @Test(
        "a foreign file decides by the rule, and nothing of ours is left beside it",
        arguments: [
            (ExistingFilePolicy.fail, "fail destinationExists"), (.skip, "finish 1000 none skipped"),
            (.rename, "fail destinationExists"), (.replace, "finish 1000 size"),
        ])
    func exists(policy: ExistingFilePolicy, expected: String) {
        var story = SFTPStory(1000, ifExists: policy)
        let foreign = FakeSFTPServer.File(bytes: [1, 2], modified: 7)
        story.server.files["d/f"] = foreign
        #expect(story.attempt() == expected)
        if policy == .replace { #expect(story.isPublished) } else { #expect(story.server.files == ["d/f": foreign]) }
    }

    @Test("the same file, by size and time, is there already and counts")
    func same() {
        for policy in [ExistingFilePolicy.fail, .skip] {
            var story = SFTPStory(3, ifExists: policy)
            story.server.files["d/f"] = .init(bytes: story.source, modified: 1234)
            #expect(story.attempt() == (policy == .skip ? "finish 3 none skipped" : "finish 3 size found"))
            #expect(story.isPublished && story.server.files.count == 1)
            story.server.files["d/f"]?.modified = 1235
            #expect(story.attempt() == (policy == .skip ? "finish 3 none skipped" : "fail destinationExists"))
        }
    }

    @Test("a folder of that name is nothing to replace")
    func folderThere() {
        var story = SFTPStory(3)
        story.server.folders.insert("d/f")
        #expect(story.attempt() == "fail destinationExists")
    }

    @Test("a file that appears while we send is not replaced; by --if-exists replace it is, also without posix-rename")
    func appears() {
        for (policy, renamesOver, expected) in [
            (ExistingFilePolicy.fail, true, "fail destinationExists"), (.skip, true, "finish 3 none skipped"),
            (.replace, true, "finish 3 size"), (.replace, false, "finish 3 size"),
        ] {
            var story = SFTPStory(3, ifExists: policy)
            story.server.features.renamesOver = renamesOver
            story.appears = .init(bytes: [9], modified: 9)
            #expect(story.attempt() == expected)
            if policy == .replace { #expect(story.isPublished) }
            if !renamesOver { #expect(story.log.suffix(3).prefix(2) == ["remove target", "rename part target"]) }
        }
    }

    // MARK: Going on

    @Test("an attempt goes on at the server's size, and only what is missing is sent")
    func resumes() {
        var story = SFTPStory(10 * piece)
        story.cut = (after: 5, isDone: false)
        #expect(story.attempt() == "wait backoff networkConnectionLost")
        story.cut = nil
        #expect(story.attempt() == "finish 1305600 size")
        #expect(
            story.log.prefix(6) == [
                "status target", "status part", "open part", "size", "resumed 261120", "write 261120..<391680",
            ])
        #expect(story.isPublished)
    }

    @Test("what nobody confirmed is sent again: the server may have refused a write in the middle of it")
    func hole() {
        for (confirmed, reach, first) in [
            // Killed before the queue was told of the last bytes, and a write among them had failed.
            (3 * piece, SFTPUpload.leastReach, 3 * piece), (0, SFTPUpload.leastReach, 2 * piece),
            // As little is proven where the file has become shorter than what was confirmed.
            (9 * piece, SFTPUpload.leastReach, 2 * piece),
            // An older version's point does not tell how much was on its way.
            (piece, nil, piece),
        ] as [(Int, Int64?, Int)] {
            var story = SFTPStory(12 * piece)
            story.cut = (after: 9, isDone: false)
            story.attempt()
            story.cut = nil
            #expect(story.server.files[SFTPStory.part]?.bytes.count == 6 * piece)
            story.subject.confirmed = Int64(confirmed)
            story.resume?.reach = reach
            story.server.files[SFTPStory.part]?.bytes[first] ^= 0xFF
            #expect(story.attempt() == "finish 1566720 size")
            #expect(story.log.contains("resumed \(first)") && story.isPublished)
            // A further attempt must not trust what was confirmed of the longer file.
            let told = story.log.prefix { !$0.hasPrefix("write") }
            if confirmed > 6 * piece { #expect(told.contains("accepted \(first)") && told.last == "persist") }
        }
    }

    @Test("what was confirmed of a temporary file that is gone is confirmed of no other one", arguments: [false, true])
    func vanished(cannotResume: Bool) {
        var story = SFTPStory(12 * piece)
        story.cut = (after: 9, isDone: false)
        story.attempt()
        story.subject.confirmed = 5 * Int64(piece)
        // It is gone, or the server takes whole files alone.
        if cannotResume { story.facts.cannotResume = true } else { story.server.files[SFTPStory.part] = nil }
        story.cut = (after: 20, isDone: false)
        story.attempt()
        let told = story.log.prefix { !$0.hasPrefix("write") }
        #expect(told.suffix(2) == ["accepted 0", "persist"], "\(told)")
        story.cut = nil
        #expect(story.attempt() == "finish 1566720 size" && story.isPublished)
    }

    @Test("where writes may be applied out of order, the window is sent again")
    func backsOff() {
        var story = SFTPStory(12 * piece)
        story.server.features.isOpenSSH = false
        story.cut = (after: 9, isDone: false)
        story.attempt()
        story.cut = nil
        #expect(story.attempt() == "finish 1566720 size")
        #expect(story.log.contains("resumed 261120") && story.isPublished)
    }

    @Test("a temporary file that is too long is cut; one that is whole is only named")
    func tooLong() {
        var story = SFTPStory(10 * piece)
        story.cutOn = ("rename", 1)
        story.attempt()
        story.cutOn = nil
        story.server.files[SFTPStory.part]?.bytes += [1, 2, 3]
        #expect(story.attempt() == "finish 1305600 size")
        #expect(story.log.contains("cut 1305600") && story.sent == 0 && story.isPublished)
    }

    @Test("a server that empties what is opened is noticed, remembered, and gets whole files")
    func truncates() {
        var story = SFTPStory(3 * mebi)
        story.server.truncatesOnOpen = true
        story.cut = (after: 4, isDone: false)
        story.attempt()
        story.cut = nil
        #expect(story.attempt() == "finish 3145728 size")
        #expect(story.log.contains("learned cannotResume=true") && story.log.contains { $0.hasPrefix("over: ") })
        #expect(!story.log.contains { $0.hasPrefix("resumed") } && story.isPublished)
        // The next one does not even try.
        var next = SFTPStory(3 * mebi)
        next.server.truncatesOnOpen = true
        next.facts = story.facts
        next.cut = (after: 4, isDone: false)
        next.attempt()
        next.cut = nil
        #expect(next.attempt() == "finish 3145728 size")
        #expect(next.log.contains("remove part") && !next.log.contains { $0.hasPrefix("over: ") } && next.isPublished)
    }

    @Test(
        "a server that refuses to go on gets whole files",
        .tells("h failed to open it (Backend does not support resume)"))
    func refusesResume() {
        for opensNothing in [false, true] {
            var story = SFTPStory(20 * mebi)
            story.cut = (after: 4, isDone: false)
            story.attempt()
            story.cut = nil
            story.server.cannotResume = true
            if opensNothing { story.server.refuses["openForWriting"] = (.failure, "Backend does not support resume") }
            let outcome = story.attempt()
            #expect(story.log.contains("learned cannotResume=true") && story.log.contains("remove part"))
            if opensNothing { continue }
            #expect(outcome == "finish 20971520 size" && story.isPublished)
        }
    }

    @Test("a source that changed begins anew under another name; the old bytes are removed")
    func changed() {
        var story = SFTPStory(3 * mebi)
        story.cut = (after: 4, isDone: false)
        story.attempt()
        story.cut = nil
        story.subject.hasChanged = true
        story.subject.modifiedNanoseconds = 77_000_000_000
        #expect(story.attempt() == "finish 3145728 size")
        #expect(
            story.log.prefix(5) == ["status target", "status part2", "status part", "remove part", "persist"])
        #expect(!story.log.contains { $0.hasPrefix("resumed") } && story.isPublished)
    }

    @Test("an old temporary file that the server does not remove stays known, and its new point is durable first")
    func unremoved() {
        for size in [1000, 3 * mebi] {
            var story = SFTPStory(size)
            story.cut = (after: 4, isDone: false)
            story.attempt()
            story.cut = nil
            (story.subject.hasChanged, story.subject.modifiedNanoseconds) = (true, 77_000_000_000)
            story.subject.begunBefore = noon
            story.server.refuses["remove"] = (.failure, "Failure")
            #expect(story.attempt().hasPrefix("finish"))
            #expect(story.log.contains("remove part") && story.log.contains("persist"))
            #expect(story.unremoved.map(\.temporary) == [RawPath(SFTPStory.part)])
            #expect(story.server.files[SFTPStory.part] != nil)
        }
    }

    @Test("a temporary file that stays keeps its number, and nothing is sent under that any more")
    func numberOfUnremoved() {
        var story = SFTPStory(3 * mebi)
        let second = SFTPStory.part.replacing(".martlet-part", with: "-2.martlet-part")
        story.resume = SFTPResumePoint(temporary: RawPath(second), generation: 2, size: 9, modified: 1)
        story.server.files[second] = FakeSFTPServer.File(bytes: [1], modified: 1)
        story.subject.hasChanged = true
        story.server.refuses["remove"] = (.failure, "Failure")
        #expect(story.attempt().hasPrefix("finish"))
        #expect(story.unremoved.map(\.generation) == [2])
        // As the only point that a task has left, and beside another one.
        let left = story.unremoved.map { ResumePoint($0) }
        #expect(ResumePoint.nextGeneration(after: left) == 3 && ResumePoint.nextGeneration(after: []) == 1)
        for change in [true, false] {
            var plan = SFTPUploadPlan(host: "h", path: RawPath("d/f"), subject: story.subject)
            (plan.subject.hasChanged, plan.subject.firstGeneration) = (change, 3)
            #expect(SFTPUpload(plan).point.generation == 3)
        }
    }

    @Test("a file that is left out has its temporary file removed, or says that it is there")
    func unremovedSkipped() {
        for status in [SFTPStatus.failure, .noSuchFile] {
            var story = SFTPStory(1000)
            story.subject.ifExists = .skip
            story.appears = FakeSFTPServer.File(bytes: [1], modified: 1)
            story.server.refuses["remove"] = (status, "")
            #expect(story.attempt().contains("skipped"))
            #expect(story.unremoved.map(\.temporary) == (status == .failure ? [RawPath(SFTPStory.part)] : []))
        }
    }

    @Test("what an earlier version of the source left under the final name is replaced, a stranger's file is not")
    func ownEarlierVersion() {
        for theirs in [1234, 1235] as [Int64] {
            var story = SFTPStory(1000)
            story.attempt()
            story.resume = SFTPResumePoint(
                temporary: RawPath(SFTPStory.part), generation: 1, size: 1000, modified: 1234)
            story.resume?.publishing = true
            story.server.files["d/f"]?.modified = theirs
            if theirs != 1234 { story.server.files["d/f"]?.bytes[500] ^= 0xFF }
            story.subject.hasChanged = true
            story.subject.modifiedNanoseconds = 99_000_000_000
            let outcome = story.attempt()
            #expect(outcome == (theirs == 1234 ? "finish 1000 size" : "fail unknownOutcome"))
            #expect(story.server.files["d/f"]?.modified == (theirs == 1234 ? 99 : theirs))
        }
    }

    // MARK: Doubt

    @Test("a lost answer to the rename is asked after, and a rename that never arrived is done again")
    func lostRename() {
        for isDone in [true, false] {
            var story = SFTPStory(1000)
            // The connection is back for the question.
            story.cut = nil
            story.attempt()
            let renames = story.log.firstIndex(of: "rename part target").map { $0 } ?? 0
            #expect(renames > 0)
            var second = SFTPStory(1000)
            second.cut = (after: 6, isDone: isDone)
            #expect(second.attempt() == "wait backoff networkConnectionLost")
            #expect(second.resume?.publishing == true)
            second.cut = nil
            #expect(second.attempt() == (isDone ? "finish 1000 size found" : "finish 1000 size"))
            #expect(second.isPublished)
            #expect(isDone ? second.sent == 0 : second.sent <= 1000)
        }
    }

    @Test(
        "where an old file was removed, a temporary file that is whole stays all that is left while its end is sent again"
    )
    func wholeStaysAllThatIsLeft() {
        for lacks in [0, 5] {
            var story = SFTPStory(2 * mebi, ifExists: .replace)
            story.server.features.renamesOver = false
            story.server.features.isOpenSSH = false
            story.server.files["d/f"] = .init(bytes: [9], modified: 9)
            // The old file is removed; the rename's answer is lost, and it has not happened.
            story.cutOn = ("rename", 2)
            #expect(story.attempt() == "wait backoff networkConnectionLost")
            #expect(story.server.files["d/f"] == nil && story.resume?.removesOld == true)
            story.server.files[SFTPStory.part]?.bytes.removeLast(lacks)
            // As one who did not yet write down that it was complete.
            story.resume?.isComplete = nil
            story.cutOn = nil
            story.cut = (after: 5, isDone: false)
            #expect(story.attempt() == "wait backoff networkConnectionLost")
            // A cancel now gives what is whole its name, and removes what is not.
            #expect(story.resume?.removesOld == (lacks == 0 ? true : nil))
            #expect(story.log.filter { $0 == "persist" }.count == 1)
            story.cut = nil
            #expect(story.attempt() == "finish 2097152 size" && story.isPublished)
        }
    }

    @Test("a file that is skipped at the end waits until its temporary file is gone")
    func skippedAtTheEnd() {
        var story = SFTPStory(1000, ifExists: .skip)
        story.appears = .init(bytes: [9], modified: 9)
        story.cutOn = ("remove", 1)
        #expect(story.attempt() == "wait backoff networkConnectionLost")
        #expect(story.server.files[SFTPStory.part] != nil)
        (story.cutOn, story.resume, story.subject.begunBefore) = (nil, story.resume ?? story.remains, noon)
        #expect(story.attempt() == "finish 1000 none skipped")
        #expect(story.server.files.keys.sorted() == ["d/f"])
    }

    @Test("a small file that got its name while it was paused is ours, also when the source changes after that")
    func pausedAtTheRename() {
        for ifExists in [ExistingFilePolicy.fail, .skip] {
            for changes in [false, true] {
                var story = SFTPStory(1000, ifExists: ifExists)
                story.pausedAt = "rename"
                #expect(story.attempt() == "paused")
                #expect(story.remains?.publishing == true && story.resume == nil)
                story.resume = story.remains
                story.pausedAt = nil
                story.subject.begunBefore = noon
                if changes {
                    story.source = Array(story.source.dropLast(10))
                    (story.subject.size, story.subject.hasChanged) = (990, true)
                }
                #expect(story.attempt() == (changes ? "finish 990 size" : "finish 1000 size found"))
                #expect(story.isPublished)
            }
        }
    }

    @Test("a small file whose rename was refused, and then happened before a kill, is known as ours")
    func killedAfterRefusal() {
        var story = SFTPStory(1000, ifExists: .skip)
        story.server.refuses["rename"] = (.failure, "Failure")
        #expect(story.attempt().hasPrefix("wait backoff"))
        #expect(story.resume?.publishing == false)
        story.server.refuses = [:]
        story.pausedAt = "rename"
        story.subject.begunBefore = noon
        // Killed: nobody was told what it left.
        #expect(story.attempt() == "paused")
        story.pausedAt = nil
        story.source = Array(story.source.dropLast(10))
        (story.subject.size, story.subject.hasChanged) = (990, true)
        #expect(story.attempt() == "finish 990 size")
        #expect(story.isPublished)
    }

    @Test("the last rename, which replaces, waits for its name and looks once more: what came meanwhile stays")
    func lastRename() {
        var story = SFTPStory(1000)
        (story.server.features.renamesOver, story.server.hasNoLinks) = (true, true)
        story.subject.begunBefore = noon
        while story.resume?.refusedRenames ?? 0 < HostFacts.mostRefusedRenames - 1 { story.attempt() }
        #expect(story.attempt() == "finish 1000 size")
        #expect(story.order.suffix(5) == ["claim", "status target", "status part", "compare", "replace part target"])
        #expect(story.isPublished)
    }

    @Test("what was gathered of an earlier version goes before the point is written that does not name it")
    func oldOneGoesFirst() {
        var story = SFTPStory(2 * mebi)
        story.cutOn = ("rename", 1)
        story.attempt()
        #expect(story.resume?.publishing == true)
        story.source = Array(story.source.dropLast(mebi / 2))
        (story.subject.size, story.subject.hasChanged) = (Int64(story.source.count), true)
        // The line breaks as the old one is to be removed: the point still names it.
        story.cutOn = ("remove", 1)
        #expect(story.attempt() == "wait backoff networkConnectionLost")
        #expect(story.resume?.temporary == RawPath(SFTPStory.part) && story.server.files[SFTPStory.part] != nil)
        story.cutOn = nil
        #expect(story.attempt() == "finish \(story.source.count) size")
        #expect(story.isPublished)
    }

    @Test("each version of a small source has a temporary file of its own, and the one before goes")
    func generations() {
        var story = SFTPStory(1000)
        story.pausedAt = "write"
        story.attempt()
        for changes in 1...3 {
            story.source = Array(story.source.dropLast(1))
            (story.subject.size, story.subject.hasChanged) = (Int64(story.source.count), true)
            story.subject.begunBefore = noon
            #expect(story.attempt() == "paused" && story.resume?.generation == changes + 1)
            #expect(story.server.files.keys.sorted() == ["d/.f.01234567-\(changes + 1).martlet-part"])
        }
    }

    @Test("a rename that was refused leaves nothing that a retry could take for one")
    func refusedRename() {
        for text in ["", "No space left on device"] {
            var story = SFTPStory(2 * mebi)
            story.server.refuses["rename"] = (text.isEmpty ? .permissionDenied : .failure, text)
            #expect(story.attempt().hasPrefix("wait"))
            #expect(story.resume?.publishing == false)
            // Somebody tidies up, and somebody else's file of the same length comes.
            story.server.refuses = [:]
            let theirs = FakeSFTPServer.File(bytes: [UInt8](repeating: 9, count: 2 * mebi), modified: 1234)
            story.server.files = ["d/f": theirs]
            #expect(story.attempt() == "fail destinationExists")
            #expect(story.server.files == ["d/f": theirs])
        }
    }

    @Test("a no takes back no earlier rename whose answer was lost")
    func refusedAgain() {
        var story = SFTPStory(2 * mebi)
        story.attempt()
        let target = story.server.files["d/f"]
        story.server.files = [SFTPStory.part: target!]
        story.server.refuses["rename"] = (.permissionDenied, "")
        #expect(story.attempt() == "wait auth permissionDenied")
        #expect(story.resume?.publishing == true)
        // The first one comes to its end.
        story.server.files = ["d/f": target!]
        #expect(story.attempt() == "finish 2097152 size found")
    }

    @Test(
        "after a kill a small file at the target is told by its bytes, and another one is not ours",
        .tells(
            "an earlier attempt may have reached h, but what is there is not the same file",
            "an earlier attempt may have reached h, but what is there cannot be read"))
    func killed() {
        var story = SFTPStory(1000)
        story.attempt()
        story.subject.begunBefore = Timestamp(milliseconds: 4_000_000)
        for modified in [1234, 4001, 3000] as [Int64] {
            story.server.files["d/f"]?.modified = modified
            #expect(story.attempt() == "finish 1000 digest found")
        }
        story.server.refuses["openForReading"] = (.permissionDenied, "no")
        #expect(story.attempt() == "fail unknownOutcome")
        story.server.refuses = [:]
        story.server.files["d/f"]?.bytes = [1]
        #expect(story.attempt() == "fail unknownOutcome")
        story.subject.ifExists = .replace
        #expect(story.attempt() == "finish 1000 size" && story.isPublished)
        // A temporary file shows that the rename never came: what is at the target is a stranger's.
        story.subject.ifExists = .fail
        story.server.files["d/f"] = .init(bytes: [1], modified: 5000)
        story.server.files[SFTPStory.part] = .init(bytes: [1], modified: 5000)
        #expect(story.attempt() == "fail destinationExists")
    }

    @Test("a file that goes on when it is read back is not ours, and is closed", arguments: [true, false])
    func endless(skips: Bool) {
        var story = SFTPStory(1000)
        story.attempt()
        story.subject.begunBefore = Timestamp(milliseconds: 4_000_000)
        story.subject.ifExists = skips ? .skip : .fail
        story.server.files["d/f"]?.modified = 3000
        story.server.neverEnds = true
        #expect(story.attempt() == (skips ? "finish 1000 none skipped" : "fail unknownOutcome"))
        #expect(story.order.suffix(2) == ["read all", "close"])
    }

    @Test("cut at any operation, done or not, as often as it likes, the file arrives whole and once")
    func anyCut() {
        for size in [500, mebi + 1] {
            for habit in 0..<4 {
                for after in 1...16 {
                    for isDone in [true, false] {
                        var story = SFTPStory(size)
                        story.server.truncatesOnOpen = habit == 1
                        story.server.cannotRename = habit == 2
                        story.server.features.renamesOver = habit < 2
                        story.server.keepsTimes = habit != 3
                        story.cut = (after, isDone)
                        if !story.attempt().hasPrefix("wait") { continue }
                        story.subject.begunBefore = Timestamp(milliseconds: 4_000_000)
                        story.subject.hasArrived = true
                        story.cut = (after + 1, isDone)
                        if story.attempt().hasPrefix("wait") {
                            story.cut = nil
                            story.attempt()
                        }
                        let place = "\(size) bytes, habit \(habit), cut after \(after) \(isDone)"
                        #expect(story.log.last?.hasPrefix("finish \(size)") == true, "\(place): \(story.log)")
                        let isWhole = story.server.files["d/f"]?.bytes == story.source
                        #expect(isWhole, "\(place)")
                        #expect(story.server.files.count == 1, "\(place): \(story.server.files.keys)")
                    }
                }
            }
        }
    }

    // MARK: Servers in the wild

    @Test("a server without rename is remembered, and gets whole files under their final names")
    func noRename() {
        var story = SFTPStory(1000)
        (story.server.cannotRename, story.server.features.renamesOver) = (true, false)
        #expect(story.attempt() == "finish 1000 size")
        #expect(story.log.contains("learned cannotRename=true") && story.isPublished)
        var next = SFTPStory(2000)
        next.facts = story.facts
        (next.server.cannotRename, next.server.features.renamesOver) = (true, false)
        #expect(next.attempt() == "finish 2000 size")
        #expect(
            next.log == [
                "status target", "status target", "persist", "open target", "size", "write 0..<2000", "time 1234",
                "size",
                "close", "accepted 2000", "finish 2000 size",
            ])
        // Under its final name, a stranger's file is not even opened, and a longer old one leaves no tail.
        next = SFTPStory(2000)
        next.facts = story.facts
        next.server.files["d/f"] = .init(bytes: [UInt8](repeating: 9, count: 5000), modified: 9)
        #expect(next.attempt() == "fail destinationExists")
        #expect(!next.log.contains("open target"))
        next.subject.ifExists = .replace
        #expect(next.attempt() == "finish 2000 size" && next.isPublished)
        #expect(next.log.contains("cut 2000"))
    }

    @Test(
        "a rename that is refused for a reason that may pass loses nothing: the next attempt only names what is there",
        arguments: [1000, 2 << 20], [ExistingFilePolicy.fail, .replace])
    func renameRefused(size: Int, policy: ExistingFilePolicy) throws {
        for status in [SFTPStatus.failure, .badMessage, .noSuchFile] {
            var story = SFTPStory(size, ifExists: policy)
            (story.server.features.renamesOver, story.server.features.isOpenSSH) = (false, false)
            // Whatever is opened again would be lost.
            story.server.truncatesOnOpen = true
            let isOldThere = policy == .replace
            if isOldThere { story.server.files["d/f"] = .init(bytes: [9], modified: 9) }
            story.server.refuses["rename"] = (status, "Failure")
            #expect(story.attempt() == "wait backoff badServerResponse")
            #expect(story.log.contains("remove target") == isOldThere && !story.log.contains("remove part"))
            #expect(!story.log.contains { $0.hasPrefix("learned") || $0.hasPrefix("over") }, "\(story.log)")
            #expect(story.server.files[SFTPStory.part]?.bytes == story.source)
            // An engine that was killed reads this; a cancel gives the old file's name to it.
            let stored = try #require(story.resume)
            story.resume = ResumePoint(encoded: ResumePoint(stored).encoded)?.content(SFTPResumePoint.self)
            #expect(story.resume?.refusedRenames == 1 && story.resume?.removesOld == (isOldThere ? true : nil))
            story.facts.cannotResume = true
            story.server.refuses = [:]
            #expect(story.attempt() == "finish \(size) size")
            #expect(story.sent == 0 && !story.log.contains("open part") && story.isPublished)
        }
    }

    @Test("a server that refuses each rename gets this file alone under its final name, after three attempts")
    func renameRefusedForGood() {
        var story = SFTPStory(1000)
        story.server.features.renamesOver = false
        story.server.refuses["rename"] = (.failure, "Failure")
        for _ in 1...2 { #expect(story.attempt() == "wait backoff badServerResponse") }
        #expect(story.attempt() == "finish 1000 size")
        #expect(story.log.contains("over: the server refuses to rename it, time after time") && story.isPublished)
        #expect(story.facts.cannotRename == nil)
        // Bytes that are sent again are no whole file: that they were is taken back before.
        story = SFTPStory(2 * mebi)
        story.server.features.renamesOver = false
        story.server.refuses["rename"] = (.failure, "Failure")
        story.attempt()
        story.server.files[SFTPStory.part]?.bytes.removeLast(5)
        story.cut = (after: 5, isDone: false)
        #expect(story.attempt().hasPrefix("wait"))
        #expect(story.resume?.isComplete == nil && story.resume?.refusedRenames == 1, "\(story.log)")
    }

    @Test("three files in a row whose renames were refused each time teach that the server cannot rename")
    func learnsFromRefusedRenames() {
        func story(_ facts: HostFacts, refuses: Bool = true) -> SFTPStory {
            var story = SFTPStory(1000)
            story.facts = facts
            story.server.features.renamesOver = false
            if refuses { story.server.refuses["rename"] = (.failure, "Failure") }
            return story
        }
        var facts = HostFacts()
        for number in 1...3 {
            var file = story(facts)
            for _ in 1...2 { #expect(file.attempt() == "wait backoff badServerResponse") }
            #expect(file.attempt() == "finish 1000 size" && file.isPublished)
            facts = file.facts
            #expect(facts.cannotRename == (number < 3 ? nil : true) && facts.refusedRenames == number)
        }
        var next = story(facts)
        #expect(next.attempt() == "finish 1000 size" && next.sent == 1000 && next.isPublished)
        #expect(!next.log.contains { $0.hasPrefix("rename") || $0.hasPrefix("over") }, "\(next.log)")
        // A rename that works in between begins the count again.
        facts = HostFacts()
        facts.refusedRenames = 2
        var works = story(facts, refuses: false)
        #expect(works.attempt() == "finish 1000 size" && works.facts.refusedRenames == nil)
    }

    @Test(
        "a server that takes each file away before its name is sent it five times in all, over attempts and restarts",
        .tells("what was sent to h is gone before it had its name"),
        arguments: [1000, 2 << 20], [ExistingFilePolicy.fail, .replace])
    func keepsVanishing(size: Int, policy: ExistingFilePolicy) {
        var story = SFTPStory(size, ifExists: policy)
        story.server.eats = true
        for attempt in 1...5 {
            let word = attempt < 5 ? "wait backoff" : "fail"
            #expect(story.attempt() == "\(word) badServerResponse" && story.sent == Int64(size))
            let stored = story.resume.flatMap { ResumePoint(encoded: ResumePoint($0).encoded) }
            story.resume = stored?.content(SFTPResumePoint.self)
            #expect(story.resume?.vanished == (attempt < 5 ? attempt : nil))
            story.subject.begunBefore = noon
        }
        // Whoever has looked and retries has it counted anew.
        story.server.eats = false
        #expect(story.attempt() == "finish \(size) size" && story.isPublished)
    }

    @Test("an upload that ends because of a file there leaves nothing behind, of an earlier version neither")
    func leavesNothing() {
        for isChanged in [true, false] {
            var story = SFTPStory(2 * mebi, ifExists: .skip)
            story.cut = (after: 5, isDone: true)
            #expect(story.attempt() == "wait backoff networkConnectionLost")
            #expect(story.server.files[SFTPStory.part] != nil && story.resume != nil)
            story.cut = nil
            let theirs = FakeSFTPServer.File(bytes: [7], modified: 9)
            story.server.files["d/f"] = theirs
            if isChanged {
                (story.subject.hasChanged, story.subject.modifiedNanoseconds) = (true, 77_000_000_000)
            } else {
                story.facts.cannotRename = true
            }
            #expect(story.attempt() == "finish \(2 * mebi) none skipped")
            #expect(story.server.files == ["d/f": theirs], "\(story.log)")
        }
    }

    @Test("a rename whose answers are lost is asked for twice in an attempt, and nothing is sent again for it")
    func lostRenames() {
        for size in [1000, 2 * mebi] {
            var story = SFTPStory(size)
            story.losing["rename"] = 5
            for attempt in 1...2 {
                #expect(story.attempt() == "wait backoff networkConnectionLost")
                #expect(story.order.count { $0.hasPrefix("rename") } == 2, "\(story.order)")
                #expect(story.sent == (attempt == 1 ? Int64(size) : 0) && story.server.files["d/f"] == nil)
                story.subject.begunBefore = noon
                story.resume = story.resume ?? story.remains
            }
            story.losing = [:]
            #expect(story.attempt() == "finish \(size) size")
            #expect(story.sent == 0 && story.isPublished)
        }
    }

    @Test(
        "a server that has the rename that replaces never gets a file under its final name, nor the old one removed at once",
        .tells("h is not able to rename it (Operation unsupported): send it elsewhere, or by another protocol")
    )
    func renamesOverRefused() {
        for policy in [ExistingFilePolicy.fail, .replace] {
            var story = SFTPStory(1000, ifExists: policy)
            let old = FakeSFTPServer.File(bytes: [9], modified: 9)
            if policy == .replace { story.server.files["d/f"] = old }
            story.server.refuses["rename"] = (.failure, "Failure")
            for attempt in 1...5 {
                #expect(story.attempt() == "wait backoff badServerResponse")
                #expect(story.server.files[SFTPStory.part]?.bytes == story.source)
                if policy == .replace, attempt < 3 { #expect(story.server.files["d/f"] == old) }
            }
            story.server.refuses = [:]
            #expect(story.attempt() == "finish 1000 size" && story.sent == 0 && story.isPublished)
        }
        var unable = SFTPStory(1000)
        unable.server.cannotRename = true
        #expect(unable.attempt() == "fail unsupported")
        #expect(unable.server.files[SFTPStory.part]?.bytes == unable.source)
    }

    @Test("a server that cannot rename without replacing does it the other way in the end, and nothing is sent twice")
    func renamesWithoutLinks() {
        var story = SFTPStory(1000, ifExists: .fail)
        story.server.hasNoLinks = true
        for _ in 1...2 { #expect(story.attempt() == "wait backoff badServerResponse") }
        #expect(story.attempt() == "finish 1000 size")
        #expect(story.sent == 0 && story.isPublished)
    }

    @Test("acknowledged bytes that are not there are noticed before the file is called done")
    func losesBytes() {
        var story = SFTPStory(1000)
        story.server.loses = 10
        #expect(story.attempt() == "finish 1000 size")
        #expect(story.log.contains { $0.hasPrefix("over: the server has 990 of 1000") } && story.isPublished)
    }

    @Test("a server that tells no sizes: done without a check, refused when a check was wished")
    func noSizes() {
        var story = SFTPStory(10)
        story.server.tellsSizes = false
        #expect(story.attempt() == "finish 10 none")
        var checked = SFTPStory(10)
        checked.server.tellsSizes = false
        checked.subject.verify = .size
        #expect(checked.attempt() == "fail integrity")
        var digest = SFTPStory(10)
        digest.subject.verify = .digest
        #expect(digest.attempt() == "fail integrity" && digest.log.count == 1)
        var none = SFTPStory(10)
        none.subject.verify = VerificationWish.none
        #expect(none.attempt() == "finish 10 none")
    }

    @Test(
        "a full disk waits for room: by the server's words, or by asking for its space",
        .tells(
            "h failed to store it (Failure)",
            "the disk or quota at h is full"))
    func full() {
        for (text, tells, expected) in [
            ("Failure", true, "wait remoteDiskSpace badServerResponse"),
            ("No space left on device", false, "wait remoteDiskSpace badServerResponse"),
            ("Disk quota exceeded", true, "wait remoteDiskSpace badServerResponse"),
            ("Failure", false, "wait backoff badServerResponse"),
        ] {
            var story = SFTPStory(3 * mebi)
            story.server.room = mebi
            story.server.fullText = text
            story.server.features.tellsFreeSpace = tells
            #expect(story.attempt() == expected)
            #expect(story.log.contains("accepted \(mebi)"))
            // With room again it goes on where it stood.
            story.server.room = Int.max
            #expect(story.attempt() == "finish 3145728 size")
            #expect(story.log.contains("resumed 1048576") && story.isPublished)
        }
    }

    @Test(
        "a refusal decides as the contract says",
        .tells("h lost its connection to the files"),
        arguments: [
            ("openForWriting", SFTPStatus.permissionDenied, "fail permissionDenied"),
            ("openForWriting", .badMessage, "fail destinationUnwritable"),
            ("openForWriting", .unsupported, "fail unsupported"),
            ("openForWriting", .failure, "wait backoff badServerResponse"),
            ("openForWriting", .connectionLost, "wait backoff networkConnectionLost"),
            ("write", .permissionDenied, "fail permissionDenied"),
            ("write", .failure, "wait backoff badServerResponse"),
            ("close", .failure, "wait backoff badServerResponse"), ("setModified", .failure, "finish 1000 size"),
            ("handleStatus", .unsupported, "finish 1000 none"),
            ("rename", .permissionDenied, "wait auth permissionDenied"),
            ("status", .permissionDenied, "finish 1000 size"),
        ])
    func refusals(operation: String, status: SFTPStatus, expected: String) {
        var story = SFTPStory(1000)
        story.server.refuses[operation] = (status, "")
        #expect(story.attempt() == expected)
    }

    @Test("a permission that is taken away after bytes were accepted waits for a person and keeps its place")
    func permissionGone() {
        var story = SFTPStory(3 * mebi)
        story.cut = (after: 4, isDone: false)
        story.attempt()
        story.cut = nil
        story.server.refuses["openForWriting"] = (.permissionDenied, "Permission denied")
        #expect(story.attempt() == "wait auth permissionDenied")
        #expect(story.resume != nil)
    }

    @Test("a failed sync or close of a large file counts as bytes that are not stored; an unknown sync does not")
    func syncs() {
        for (status, expected) in [
            (SFTPStatus.failure, "wait backoff badServerResponse"), (.unsupported, "finish 3145728 size"),
        ] {
            var story = SFTPStory(3 * mebi)
            story.server.refuses["sync"] = (status, "")
            #expect(story.attempt() == expected)
        }
    }

    @Test("a login that is refused waits for a person; what can never work fails")
    func notLetIn() {
        let plan = SFTPUploadPlan(host: "h", path: RawPath("d/f"), subject: SFTPStory(100_000).subject)
        for (outcome, expected) in [
            (SFTPEnd.Outcome.notLetIn(.hostKey, TransferError(.pinMismatch, "")), "wait hostKey pinMismatch"),
            (.notLetIn(.auth, TransferError(.permissionDenied, "")), "wait auth permissionDenied"),
            (.failed(.network(refused)), "wait backoff cannotConnectToHost"),
            (.failed(.network(TransferError(.unsupported, ""))), "fail unsupported"),
        ] {
            var machine = SFTPUpload(plan)
            #expect(machine.handle(.began(at: noon)).count == 2)
            let end = SFTPEnd(outcome, at: noon)
            #expect(machine.handle(.sftpEnded(ExchangeID(rawValue: 1), end)).isEmpty)
            #expect(words(machine.handle(.sftpEnded(ExchangeID(rawValue: 2), end))) == [expected])
            #expect(machine.handle(.sftpEnded(ExchangeID(rawValue: 2), end)).isEmpty)
        }
    }

    @Test("a resume point comes back as it was written; numbers that cannot be are none")
    func resumePoint() throws {
        let point = SFTPResumePoint(temporary: RawPath([0x66, 0xFF]), generation: 2, size: 5, modified: 6)
        let encoded = ResumePoint(point).encoded
        #expect(try #require(ResumePoint(encoded: encoded)).content(SFTPResumePoint.self) == point)
        #expect(!SFTPResumePoint(temporary: RawPath(""), generation: 1, size: 1, modified: 1).isPlausible)
        #expect(!SFTPResumePoint(temporary: RawPath("a"), generation: 1, size: -1, modified: 1).isPlausible)
        var hostile = point
        hostile.refusedRenames = -1
        #expect(!hostile.isPlausible)
    }

    @Test("on a server that cannot rename a file that came there before any byte of ours is somebody else's")
    func othersFile() {
        var story = SFTPStory(500)
        story.facts.cannotRename = true
        story.resume = SFTPResumePoint(temporary: RawPath("d/f"), generation: 1, size: 500, modified: 1234)
        story.server.files["d/f"] = .init(bytes: [7], modified: 9)
        #expect(story.attempt() == "fail unknownOutcome")
        #expect(story.server.files["d/f"]?.bytes == [7])
        // No retry replaces it, unless that is said.
        #expect(story.attempt() == "fail unknownOutcome")
        #expect(story.server.files["d/f"]?.bytes == [7])
        story.subject.ifExists = .replace
        #expect(story.attempt().hasPrefix("finish 500") && story.isPublished)
        var whole = SFTPStory(500)
        whole.facts.cannotRename = true
        whole.resume = SFTPResumePoint(temporary: RawPath("d/f"), generation: 1, size: 500, modified: 1234)
        whole.server.files["d/f"] = .init(bytes: whole.source, modified: 9)
        #expect(whole.attempt() == "finish 500 digest found")
    }

    @Test("what a cancelled upload left is removed; a file under its final name is not")
    func removal() {
        let point = SFTPResumePoint(temporary: RawPath("d/p"), generation: 1, size: 1, modified: 1)
        var removal = SFTPRemoval(point, host: "h", path: RawPath("d/f"))
        #expect(words(removal.handle(.began(at: noon))) == ["1 remove(\(RawPath("d/p")))"])
        let gone = SFTPEnd(.refused(.noSuchFile, ""), at: noon)
        #expect(words(removal.handle(.sftpEnded(ExchangeID(rawValue: 1), gone))) == ["finish 0 none"])
        // Where an old file was removed for it, it gets its name: nothing else of the file is left.
        var replacing = point
        replacing.removesOld = true
        for (target, next) in [
            (
                SFTPReply.refused(.noSuchFile, ""),
                "2 rename(\(RawPath("d/p")), to: \(RawPath("d/f")), replaces: false)"
            ),
            (.attributes(SFTPAttributes(size: 7)), "2 remove(\(RawPath("d/p")))"),
        ] {
            var removal = SFTPRemoval(replacing, host: "h", path: RawPath("d/f"))
            #expect(words(removal.handle(.began(at: noon))) == ["1 status(\(RawPath("d/f")))"])
            let looked = removal.handle(.sftpEnded(ExchangeID(rawValue: 1), SFTPEnd(target, at: noon)))
            #expect(words(looked) == [next])
            let done = removal.handle(.sftpEnded(ExchangeID(rawValue: 2), SFTPEnd(.done, at: noon)))
            #expect(words(done) == ["finish 0 none"])
        }
        var unseen = SFTPRemoval(replacing, host: "h", path: RawPath("d/f"))
        _ = unseen.handle(.began(at: noon))
        let refused = SFTPEnd(.refused(.permissionDenied, ""), at: noon)
        let kept = words(unseen.handle(.sftpEnded(ExchangeID(rawValue: 1), refused)))
        #expect(kept.count == 1 && !kept[0].contains("remove"), "\(kept)")
        var direct = SFTPRemoval(point, host: "h", path: RawPath("d/p"))
        #expect(words(direct.handle(.began(at: noon))) == ["finish 0 none"])
    }
}
