import Digests
import Testing

@testable import UploadReceiver

@Suite("One append to an upload")
struct AppendMachineTests {
    private let hello = DigestAlgorithm.sha256.digest(of: "hello".utf8)

    private func append(
        at offset: UInt64 = 0, _ body: BodyLength = .known(5), dialect: UploadDialect = .tus, completes: Bool = false,
        length: UInt64? = nil, piece: DigestValue? = nil
    ) -> UploadAppend {
        UploadAppend(
            dialect: dialect, offset: offset, completes: completes, length: length, body: body,
            piece: piece.map { PieceClaim(algorithm: .sha256, value: $0) })
    }

    private func facts(
        at offset: UInt64 = 0, of length: UInt64?, byLength: Bool = true, role: UploadRecord.Role = .file,
        published: Bool = false
    ) -> UploadFacts {
        var record = UploadRecord(path: TargetPath(components: [[65]]), completesByLength: byLength)
        record.length = length
        record.role = role
        return UploadFacts(record: record, offset: offset, isPublished: published)
    }

    private func machine(_ append: UploadAppend, maximum: UInt64? = nil) -> AppendMachine {
        var limits = ReceiverConfiguration.Limits()
        limits.maximumSize = maximum
        limits.keepFree = 100
        return AppendMachine(append, limits: limits)
    }

    private func look(
        _ append: UploadAppend, _ facts: UploadFacts, free: UInt64 = 1000, maximum: UInt64? = nil
    ) -> AppendMachine.LookAction {
        var machine = machine(append, maximum: maximum)
        return machine.looked(facts, freeSpace: free)
    }

    private func run(_ append: UploadAppend, _ facts: UploadFacts, pieces: [Int], digest: DigestValue? = nil)
        -> AppendMachine.EndAction
    {
        var machine = machine(append)
        let action = machine.looked(facts, freeSpace: 1000)
        if case .refuse(let refusal) = action { return .refuse(refusal) }
        for count in pieces {
            let action = machine.arrived(count)
            if case .refuse(let refusal) = action { return .refuse(refusal) }
        }
        return machine.bodyEnded(piece: digest)
    }

    @Test("tus publishes at the length, the IETF when the client says so, partial uploads never")
    func ends() {
        let draft = UploadDialect.ietf(.eight)
        #expect(run(append(), facts(of: 10), pieces: [2, 3]) == .keep)
        #expect(run(append(at: 5), facts(at: 5, of: 10), pieces: [5]) == .publish)
        #expect(run(append(at: 5), facts(at: 5, of: nil), pieces: [5]) == .keep)
        #expect(run(append(), facts(of: 5, role: .partial), pieces: [5]) == .keep)
        #expect(run(append(dialect: draft), facts(of: 5, byLength: false), pieces: [5]) == .keep)
        #expect(run(append(dialect: draft, completes: true), facts(of: 5, byLength: false), pieces: [5]) == .publish)
        #expect(run(append(dialect: draft, completes: true), facts(of: nil, byLength: false), pieces: [5]) == .publish)
        let empty = append(at: 5, .none, dialect: draft, completes: true)
        #expect(run(empty, facts(at: 5, of: 5, byLength: false), pieces: []) == .publish)
        #expect(run(empty, facts(at: 5, of: nil, byLength: false), pieces: []) == .publish)
    }

    @Test("bytes go exactly where the upload ends")
    func offsets() {
        for offset in [0, 4, 6] as [UInt64] {
            let expected = UploadRefusal.offsetDiffers(expected: 5, provided: offset)
            #expect(look(append(at: offset), facts(at: 5, of: 100)) == .refuse(expected))
        }
        #expect(look(append(at: 5), facts(at: 5, of: 100)) == .receive(newLength: nil))
    }

    @Test("lengths that contradict each other are refused before a byte is taken, or at the byte that is too many")
    func lengths() {
        let draft = UploadDialect.ietf(.eight)
        #expect(look(append(), facts(of: 4)) == .refuse(.inconsistentLength(4)))
        #expect(look(append(length: 7), facts(of: 6)) == .refuse(.inconsistentLength(6)))
        #expect(look(append(length: 4), facts(of: nil)) == .refuse(.inconsistentLength(4)))
        #expect(look(append(length: 7), facts(of: nil)) == .receive(newLength: 7))
        #expect(look(append(length: 6), facts(of: 6)) == .receive(newLength: nil))
        let last = append(dialect: draft, completes: true)
        #expect(look(last, facts(of: 6, byLength: false)) == .refuse(.inconsistentLength(6)))
        #expect(run(append(.unknown), facts(of: 4), pieces: [2, 3]) == .refuse(.inconsistentLength(4)))
        let chunked = append(.unknown, dialect: draft, completes: true)
        #expect(run(chunked, facts(of: 6, byLength: false), pieces: [5]) == .refuse(.inconsistentLength(6)))
        #expect(
            look(append(at: UInt64(Int64.max), .known(.max)), facts(at: UInt64(Int64.max), of: nil))
                == .refuse(.file(.tooLarge(limit: .max))))
    }

    @Test("size and room are checked")
    func limits() {
        #expect(look(append(), facts(of: 11), maximum: 10) == .refuse(.file(.tooLarge(limit: 10))))
        #expect(look(append(), facts(of: nil), maximum: 4) == .refuse(.file(.tooLarge(limit: 4))))
        #expect(look(append(), facts(of: 10), free: 109) == .refuse(.file(.noRoom)))
        #expect(look(append(), facts(of: 10), free: 110) == .receive(newLength: nil))
        #expect(look(append(at: 5), facts(at: 5, of: 1000), free: 105) == .receive(newLength: nil))
        var machine = machine(append(.unknown), maximum: 10)
        #expect(machine.looked(facts(of: nil), freeSpace: 1000) == .receive(newLength: nil))
        let (first, second, third) = (machine.arrived(10), machine.arrived(1), machine.arrived(1))
        #expect(first == .store)
        #expect(second == .refuse(.file(.tooLarge(limit: 10))))
        #expect(third == .ignore)
    }

    @Test("a complete upload takes nothing more, a join never does")
    func closed() {
        #expect(look(append(at: 5), facts(at: 5, of: 5, published: true)) == .refuse(.completed))
        #expect(look(append(), facts(of: 5, role: .joined("final;x"))) == .refuse(.joined))
    }

    @Test("a piece with another digest than announced does not count")
    func pieces() {
        #expect(run(append(piece: hello), facts(of: 5), pieces: [5], digest: hello) == .publish)
        let other = DigestAlgorithm.sha256.digest(of: "hellp".utf8)
        #expect(run(append(piece: hello), facts(of: 5), pieces: [5], digest: other) == .refuse(.checksumDiffers))
    }

    @Test(
        "refusals have their statuses",
        arguments: [
            (.tusVersion, 412, 412), (.badField("X"), 400, 400), (.wrongContentType("x"), 415, 415),
            (.noSuchUpload, 404, 404), (.offsetDiffers(expected: 1, provided: 2), 409, 409),
            (.inconsistentLength(1), 400, 400), (.completed, 409, 400), (.joined, 403, 403), (.busy, 503, 503),
            (.checksumDiffers, 460, 400), (.exists, 409, 409), (.unknownChecksum, 400, 400), (.piecesMissing, 400, 400),
            (.tooManyPieces(most: 9), 400, 400),
            (.file(.noRoom), 507, 507), (.file(.tooLarge(limit: 1)), 413, 413), (.name(.leavesTheFolder), 400, 400),
        ] as [(UploadRefusal, UInt32, UInt32)])
    func statuses(refusal: UploadRefusal, tus: UInt32, draft: UInt32) {
        #expect(refusal.answer(in: .tus).status.rawValue == tus)
        #expect(refusal.answer(in: .ietf(.eight)).status.rawValue == draft)
    }
}
