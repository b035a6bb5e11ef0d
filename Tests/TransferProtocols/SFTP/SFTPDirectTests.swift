import Testing
import TransferModel
import WireOperations

@testable import TransferProtocols

private let size = 2 << 20

/// Servers that cannot rename: the bytes go under the final name, and what is found there is ours or somebody else's.
@Suite struct SFTPDirectTests {
    private let policies = [ExistingFilePolicy.fail, .skip]

    /// An upload whose engine is killed after its payload went out; nobody wrote down that bytes had come there.
    private func killed(_ policy: ExistingFilePolicy) -> SFTPStory {
        var story = SFTPStory(size, ifExists: policy)
        story.facts.cannotRename = true
        story.server.cannotRename = true
        story.cutOn = ("setModified", 1)
        #expect(story.attempt() == "wait backoff networkConnectionLost")
        #expect(story.resume?.owned == .free(upTo: Int64(size)))
        #expect(story.server.files["d/f"]?.bytes.count == size)
        story.cutOn = nil
        story.subject.confirmed = 0
        return story
    }

    @Test("a kill in the first second leaves what the next attempt knows as its own, up to the source's length")
    func killedEarly() {
        for policy in policies {
            var story = killed(policy)
            story.server.files["d/f"]?.bytes.removeLast(100)
            #expect(story.attempt() == "finish \(size) size")
            #expect(story.isPublished && story.resume?.owned == .written)
            story = killed(policy)
            story.server.files["d/f"]?.bytes.append(7)
            #expect(story.attempt() == "fail unknownOutcome")
            #expect(story.server.files["d/f"]?.bytes.count == size + 1)
        }
    }

    @Test("what is shorter than the server had, or longer than what was sent, is neither cut nor written over")
    func bounds() {
        for policy in policies {
            for theirs in [300_000, size + 1] {
                var story = killed(policy)
                (story.subject.hasArrived, story.subject.confirmed) = (true, 400_000)
                story.server.files["d/f"] = FakeSFTPServer.File(
                    bytes: [UInt8](repeating: 7, count: theirs), modified: 9)
                let before = story.server.files
                #expect(story.attempt() == "fail unknownOutcome")
                #expect(story.server.files == before)
            }
            // A later attempt wrote over it from the start, and was cut early.
            var story = killed(policy)
            (story.subject.hasArrived, story.subject.confirmed) = (true, 400_000)
            story.cutOn = ("setModified", 1)
            #expect(story.attempt() == "wait backoff networkConnectionLost")
            #expect(story.resume?.owned == .written && story.resume?.longest == Int64(size))
            story.cutOn = nil
            story.server.files["d/f"]?.bytes.append(7)
            #expect(story.attempt() == "fail unknownOutcome")
            story.server.files["d/f"]?.bytes.removeLast(size)
            #expect(story.attempt() == "finish \(size) size" && story.isPublished)
        }
    }

    @Test("a source that changes while it is sent is sent again over its own first bytes")
    func changedWhileSent() {
        for policy in policies {
            var story = killed(policy)
            story.source = Array(story.source.prefix(1000))
            (story.subject.size, story.subject.hasChanged) = (1000, true)
            #expect(story.attempt() == "finish 1000 size")
            #expect(story.isPublished)
        }
    }

    @Test("nor does it matter that nobody remembers any more that the server cannot rename")
    func changedLater() {
        for (policy, renamesOver) in [(ExistingFilePolicy.fail, true), (.skip, false)] {
            var story = killed(policy)
            story.facts = HostFacts()
            story.server.cannotRename = false
            story.server.features.renamesOver = renamesOver
            story.subject.hasChanged = true
            story.subject.modifiedNanoseconds = 77_000_000_000
            #expect(story.attempt() == "finish \(size) size")
            #expect(story.isPublished && story.server.files["d/f"]?.modified == 77)
        }
    }

    @Test("what comes there after an attempt that has opened nothing is somebody else's")
    func openedNothing() {
        var story = SFTPStory(size)
        story.facts.cannotRename = true
        story.cut = (after: 3, isDone: false)
        #expect(story.attempt() == "wait backoff networkConnectionLost")
        #expect(story.resume != nil && story.resume?.owned == nil)
        story.cut = nil
        let theirs = FakeSFTPServer.File(bytes: [7], modified: 9)
        story.server.files["d/f"] = theirs
        #expect(story.attempt() == "fail unknownOutcome")
        #expect(story.server.files == ["d/f": theirs])
        story.server.files = [:]
        #expect(story.attempt() == "finish \(size) size" && story.isPublished)
    }

    @Test("an attempt that found the name free, and opened nothing, leaves nothing there, whatever had come before it")
    func openedNothingAgain() {
        var story = killed(.fail)
        (story.subject.hasArrived, story.subject.confirmed) = (true, 400_000)
        story.server.files = [:]
        story.cutOn = ("openForWriting", 1)
        #expect(story.attempt() == "wait backoff networkConnectionLost")
        #expect(story.resume?.owned == nil)
        let theirs = FakeSFTPServer.File(bytes: [7], modified: 9)
        story.server.files["d/f"] = theirs
        story.cutOn = nil
        #expect(story.attempt() == "fail unknownOutcome")
        #expect(story.server.files == ["d/f": theirs])
    }

    @Test("a point that says whose the file is survives its coding")
    func coding() {
        var point = SFTPResumePoint(temporary: RawPath("d/f"), generation: 1, size: 1, modified: 1)
        for owned in [nil, OwnedName.free(upTo: 7), .written] {
            point.owned = owned
            #expect(ResumePoint(encoded: ResumePoint(point).encoded)?.content(SFTPResumePoint.self) == point)
        }
    }
}
