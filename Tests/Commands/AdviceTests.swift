import CommandLine
import MartletKit
import Testing
import TransferModel
import Wording

@testable import Commands

/// The table of cures is written in one module and the commands in another: what one names the other has to take.
@Suite("Commands that advice names are commands that there are")
struct AdviceTests {
    private static let values = [
        "ID": "b7", "BATCH": "b7", "FILE": "/ca.pem", "USER": "ana", "N": "2", "RATE": "2M",
        "PIN": "sha256//" + String(repeating: "A", count: 43) + "=",
    ]

    private func expectTaken(_ advice: Advice, _ origin: String) {
        for command in advice.commands {
            let words = command.verb.split(separator: " ").map(String.init) + command.nodes.map(\.description)
            #expect(!command.arguments.contains { $0.contains("'") }, "\(command.text) is quoted twice")
            let given = (words + command.arguments).map { Argument(Self.values[$0] ?? $0) }
            #expect(throws: Never.self, "\(origin): \(command.text)") { try MartletProgram.program.parse(given) }
        }
    }

    private static let schemes: [String?] = [nil] + TransferScheme.allCases.map { "\($0.rawValue)://h/" }

    @Test("of each cause, for each protocol", arguments: TransferErrorCode.allCases)
    func causes(code: TransferErrorCode) {
        let remedies: [Remedy?] = [
            nil, .step("check it"), .thenRetry("check it"), .replacing("move it, or "), .authority("check it"),
            .pin("ask"),
        ]
        for url in Self.schemes {
            for batch in [BatchID(rawValue: 7), nil] {
                let subject = CureSubject(batch: batch, url: url, isDownload: false)
                for remedy in remedies {
                    let error = TransferError(code, "it failed", remedy)
                    expectTaken(error.remedy(for: subject), "\(code) of \(url ?? "anything")")
                    expectTaken(error.remedyOfServer(for: subject), "\(code) of \(url ?? "anything")")
                }
            }
        }
    }

    @Test("of each reason to wait, for each protocol", arguments: WaitReason.allCases)
    func reasons(reason: WaitReason) {
        for (url, isDownload) in Self.schemes.flatMap({ [($0, false), ($0, true)] }) {
            let subject = CureSubject(
                node: .task(TaskID(rawValue: 9)), batch: BatchID(rawValue: 7), url: url, isDownload: isDownload)
            expectTaken(reason.remedy(for: subject), "\(reason) of \(url ?? "anything")")
        }
    }
}
