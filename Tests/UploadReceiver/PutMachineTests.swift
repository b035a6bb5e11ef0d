import Digests
import LinuxSystem
import Testing

@testable import UploadReceiver

private let facts = FileFacts(inode: 1, size: 5, modifiedNanoseconds: 5)
private let path = TargetPath(components: [Array("f".utf8)])

/// A machine behind a reference, because `#expect` does not let a value change inside it.
private final class Put {
    private var machine: PutMachine

    init(_ machine: PutMachine) { self.machine = machine }

    func looked(_ existing: Existing, freeSpace: UInt64) -> PutMachine.LookAction {
        machine.looked(existing, freeSpace: freeSpace)
    }
    func arrived(_ count: Int) -> PutMachine.ArrivalAction { machine.arrived(count) }
    func storingFailed(_ error: Errno) -> Refusal { machine.storingFailed(error) }
    func bodyEnded(digest: DigestValue?) -> PutMachine.EndAction { machine.bodyEnded(digest: digest) }
    func published(_ outcome: PublishOutcome, digest: DigestValue?) -> Result<Answer, Refusal> {
        machine.published(outcome, digest: digest)
    }
    var needsDigest: Bool { machine.request.needsDigest }
}

@Suite("One PUT")
struct PutMachineTests {
    private func machine(
        _ body: BodyLength = .known(5), _ fields: KeyValuePairs<String, String> = [:], folder: Bool = false,
        maximum: UInt64? = nil
    ) throws -> Put {
        var limits = ReceiverConfiguration.Limits()
        limits.maximumSize = maximum
        limits.keepFree = 100
        let fields = RequestFields(fields)
        let request = PutMachine.Request(
            path: TargetPath(components: path.components, isFolder: folder), body: body,
            conditions: try #require(Preconditions(fields)), claim: DigestFields.claim(of: fields),
            wantsDigest: DigestFields.wantsSHA256(fields["want-repr-digest"]))
        return Put(PutMachine(request, limits: limits))
    }

    @Test("a new file is received, published and answered 201 with its tag")
    func created() throws {
        let put = try machine()
        #expect(put.looked(.nothing, freeSpace: 1000) == .receive)
        #expect(put.arrived(3) == .store)
        #expect(put.arrived(2) == .store)
        #expect(put.bodyEnded(digest: nil) == .publish)
        let answer = try put.published(.created(facts), digest: nil).get()
        #expect(answer.status == .created)
        #expect(answer.fields.contains(Answer.Field(name: "ETag", value: facts.tag.field)))
    }

    @Test("a file that is there is replaced and answered 204")
    func replaced() throws {
        let put = try machine()
        #expect(put.looked(.file(facts), freeSpace: 1000) == .receive)
        _ = put.arrived(5)
        #expect(put.bodyEnded(digest: nil) == .publish)
        #expect(try put.published(.replaced(facts), digest: nil).get().status == .noContent)
    }

    @Test("a large file is synced before it has its name")
    func large() throws {
        let put = try machine(.unknown)
        #expect(put.looked(.nothing, freeSpace: 1000) == .receive)
        _ = put.arrived(Int(PutMachine.syncedFrom) - 1)
        #expect(put.arrived(1) == .store)
        #expect(put.bodyEnded(digest: nil) == .publishSynced)
    }

    @Test("what the head alone rules out is refused before any byte")
    func refusedAtHead() throws {
        func refusal(_ put: Put, _ existing: Existing = .nothing, free: UInt64 = 1000) -> PutMachine.LookAction {
            put.looked(existing, freeSpace: free)
        }
        #expect(refusal(try machine(folder: true)) == .refuse(.namesAFolder))
        #expect(refusal(try machine(), .folder) == .refuse(.notAFile))
        #expect(refusal(try machine(), .other) == .refuse(.notAFile))
        #expect(refusal(try machine(maximum: 4)) == .refuse(.tooLarge(limit: 4)))
        #expect(refusal(try machine(maximum: 5)) == .receive)
        #expect(refusal(try machine(), free: 104) == .refuse(.noRoom))
        #expect(refusal(try machine(), free: 105) == .receive)
        #expect(refusal(try machine(.known(.max))) == .refuse(.noRoom))
        #expect(refusal(try machine(.unknown), free: 99) == .refuse(.noRoom))
        #expect(refusal(try machine(.known(5), ["repr-digest": "sha-256=:x:"])) == .refuse(.malformedDigest))
    }

    @Test("conditions are checked before the body, against what is there")
    func conditions() throws {
        func look(_ fields: KeyValuePairs<String, String>, _ existing: Existing) throws -> PutMachine.LookAction {
            let put = try machine(.known(5), fields)
            return put.looked(existing, freeSpace: 1000)
        }
        #expect(try look(["if-none-match": "*"], .nothing) == .receive)
        #expect(try look(["if-none-match": "*"], .file(facts)) == .refuse(.conditionFailed(facts)))
        #expect(try look(["if-none-match": "*"], .folder) == .refuse(.conditionFailed(nil)))
        #expect(try look(["if-none-match": "*"], .other) == .refuse(.conditionFailed(nil)))
        #expect(try look(["if-match": facts.tag.field], .file(facts)) == .receive)
        #expect(try look(["if-match": "\"x\""], .file(facts)) == .refuse(.conditionFailed(facts)))
        #expect(try look(["if-match": "*"], .nothing) == .refuse(.conditionFailed(nil)))
    }

    @Test("a chunked body is refused when it grows too large, once, and the rest is ignored")
    func grows() throws {
        let put = try machine(.unknown, maximum: 10)
        #expect(put.looked(.nothing, freeSpace: 1000) == .receive)
        #expect(put.arrived(10) == .store)
        #expect(put.arrived(1) == .refuse(.tooLarge(limit: 10)))
        #expect(put.arrived(1) == .ignore)
    }

    @Test("a body of another length than announced is never published", arguments: [0, 4, 6])
    func wrongLength(received: Int) throws {
        let put = try machine(.known(5))
        #expect(put.looked(.nothing, freeSpace: 1000) == .receive)
        _ = put.arrived(received)
        #expect(put.bodyEnded(digest: nil) == .refuse(.wrongLength(expected: 5, received: UInt64(received))))
    }

    @Test("an announced digest is checked, and returned when asked for")
    func digests() throws {
        let digest = DigestAlgorithm.sha256.digest(of: "hello".utf8)
        let right = try machine(.known(5), ["content-digest": DigestFields.field(digest)])
        #expect(right.needsDigest)
        #expect(right.looked(.nothing, freeSpace: 1000) == .receive)
        _ = right.arrived(5)
        #expect(right.bodyEnded(digest: digest) == .publish)
        #expect(try right.published(.created(facts), digest: digest).get().fields.contains(.digest(digest)))

        let wrong = try machine(.known(5), ["repr-digest": DigestFields.field(digest)])
        #expect(wrong.looked(.nothing, freeSpace: 1000) == .receive)
        _ = wrong.arrived(5)
        #expect(wrong.bodyEnded(digest: DigestAlgorithm.sha256.digest(of: "hellp".utf8)) == .refuse(.digestDiffers))

        #expect(try machine(.known(5), ["want-repr-digest": "sha-256=1"]).needsDigest)
        #expect(try machine().needsDigest == false)
    }

    @Test(
        "a publication that did not happen is told with the right status",
        arguments: [
            (.refused, 412), (.blocked, 409), (.failed(.noSpace), 507), (.failed(.quotaExceeded), 507),
            (.failed(.notDirectory), 409), (.failed(.accessDenied), 403), (.failed(.readOnlyFileSystem), 403),
            (.failed(.tooManyOpenFiles), 503), (.failed(.inputOutput), 500), (.failed(.crossDevice), 409),
        ] as [(PublishOutcome, UInt32)])
    func failures(outcome: PublishOutcome, status: UInt32) throws {
        let put = try machine()
        #expect(put.looked(.nothing, freeSpace: 1000) == .receive)
        _ = put.arrived(5)
        _ = put.bodyEnded(digest: nil)
        guard case .failure(let refusal) = put.published(outcome, digest: nil) else {
            Issue.record("it was answered as a success")
            return
        }
        #expect(refusal.answer.status.rawValue == status)
    }

    @Test("a disk that takes no more is told with 507, and what follows is ignored")
    func diskFull() throws {
        let put = try machine()
        #expect(put.looked(.nothing, freeSpace: 1000) == .receive)
        #expect(put.storingFailed(.noSpace).answer.status == .insufficientStorage)
        #expect(put.arrived(1) == .ignore)
    }
}
