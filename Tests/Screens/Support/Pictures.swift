import FoundationEssentials
import Testing
import TestSupport

/// Pictures of screens as text, kept beside the tests: what a person would see, compared letter by letter.
///
/// With `MARTLET_PICTURES=update` in the environment a picture that differs is written instead, and the test still
/// fails, so that nobody takes new pictures without looking at them. Without it a mismatch prints the new picture.
enum Pictures {
    private static let folder = Checkout.root + "/Tests/Screens/Pictures"

    private static var updates: Bool {
        ProcessInfo.processInfo.environment["MARTLET_PICTURES"] == "update"
    }

    /// Compares a picture with the kept one of that name.
    static func expect(_ picture: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) {
        expect(picture, file: "\(folder)/\(name).txt", sourceLocation: sourceLocation)
    }

    /// The same of any file that is made from a table.
    static func expect(_ picture: String, file name: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let file = URL(filePath: name)
        let kept = try? String(decoding: Data(contentsOf: file), as: UTF8.self)
        guard kept != picture + "\n" else { return }
        if updates {
            do {
                try Data((picture + "\n").utf8).write(to: file)
                Issue.record("wrote \(file.lastPathComponent): look at it", sourceLocation: sourceLocation)
            } catch {
                Issue.record(error, sourceLocation: sourceLocation)
            }
        } else {
            let what = kept == nil ? "there is no picture of it" : firstDifference(kept ?? "", picture + "\n")
            Issue.record("\(file.lastPathComponent): \(what). Now:\n\(picture)", sourceLocation: sourceLocation)
        }
    }

    private static func firstDifference(_ kept: String, _ now: String) -> String {
        let (old, new) = (kept.split(separator: "\n"), now.split(separator: "\n"))
        let line =
            zip(old, new).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? min(old.count, new.count)
        let before = old.indices.contains(line) ? old[line] : "(nothing)"
        return "line \(line + 1) was\n\(before)"
    }
}
