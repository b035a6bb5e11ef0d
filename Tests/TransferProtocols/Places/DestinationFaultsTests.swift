import Testing
import TransferModel
import Wording

@testable import TransferProtocols

/// What is said of the destination, and what a person is told to do about it.
@Suite struct DestinationFaultsTests {
    private let subject = CureSubject(
        node: .batch(BatchID(rawValue: 7)), batch: BatchID(rawValue: 7), url: "https://h/", isDownload: false)
    private let several = CureSubject(batch: nil, url: "https://h/", isDownload: false)

    @Test("where replacing what is there would do, the batch is named for which that can be set")
    func replacing() {
        for error in [
            TransferError.exists(at: "h"), .exists(at: "h", httpStatus: 412), .unsure(at: "h", "it has 5 bytes"),
            .cannotProtect(at: "h"), TransferError(.destinationExists, "without advice"),
        ] {
            let remedy = error.remedy(for: subject).text
            #expect(remedy.contains("martlet set b7 --if-exists replace"), "\(remedy)")
            #expect(remedy.hasSuffix("then martlet retry b7"), "\(remedy)")
            // Of no batch that could be named.
            #expect(error.remedy(for: several).text.contains("set --if-exists replace for its batch"))
        }
    }

    @Test("what was asked to be checked and cannot be is not tried again as it is")
    func checking() {
        for error in [TransferError.unverifiable(at: "h", "tells no digest"), .noComparableTag("h")] {
            let remedy = error.remedy(for: subject).text
            #expect(remedy == "look there, or queue it again with a weaker --verify")
        }
    }

    @Test("nobody is told to take other bytes for the file")
    func differing() {
        let error = TransferError.differing(at: "h", "took the file but has other bytes (its SHA-256 differs)")
        #expect(error.code == .integrity && !error.isRetryable)
        #expect(error.remedy(for: subject).text.hasSuffix("now remove it there, then martlet retry b7"))
    }

    @Test("a server that goes on refusing, or losing, is quoted as it is")
    func refusing() {
        let refusal = TransferError.keepsRefusing(at: "h")
        #expect(!refusal.isRetryable && refusal.httpStatus == 412)
        #expect(refusal.remedy(for: subject).text == "look at its log, then martlet retry b7")
        let loss = TransferError.keepsStartingOver(at: "h", "the server has lost the upload")
        #expect(loss.isRetryable && loss.message.hasPrefix("the server has lost the upload, again and again (at h): "))
    }
}
