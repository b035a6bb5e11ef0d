import CommandLine
import TestSupport
import Testing
import TransferModel

@testable import Commands

/// A code that nothing ends with is a promise of the contract that is not kept yet: the manual says so.
@Suite struct ErrorCodeTests {
    @Test("every error code is the end of something, but for those that the manual calls not built")
    func producers() throws {
        let files = try ProductSources.files().filter { !$0.key.hasPrefix("Wording/") }
        let makers = [
            "TransferError(", "error(", "refusal(", "finding(", "code(", "failure(", "code: ", "code = ", "cause = ",
            ", ",
        ]
        func isProduced(_ code: TransferErrorCode) -> Bool {
            files.values.contains { text in
                var rest = text[...]
                while let range = rest.firstRange(of: ".\(code.rawValue)") {
                    let before = rest[..<range.lowerBound].reversed().drop(while: \.isWhitespace).prefix(16).reversed()
                    rest = rest[range.upperBound...]
                    if rest.first?.isLetter == true { continue }
                    let isArgument = rest.first == ")" || rest.first == ","
                    let words = String(before)
                    for maker in makers {
                        let end = maker.hasSuffix(" ") ? String(maker.dropLast()) : maker
                        guard words.hasSuffix(end), maker != ", " || isArgument && rest.first == ")" else { continue }
                        return true
                    }
                }
                return false
            }
        }
        for code in TransferErrorCode.allCases {
            #expect(isProduced(code) != TransferErrorCode.unbuilt.contains(code), "\(code)")
        }
        for code in TransferErrorCode.unbuilt {
            #expect(MartletProgram.program.unbuiltWords.contains { $0.contains(code.rawValue) })
        }
    }
}
