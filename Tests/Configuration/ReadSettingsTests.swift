import TestSupport
import Testing

@testable import Configuration

/// A key that nothing reads promises what is not done.
@Suite struct ReadSettingsTests {
    @Test("every key of martlet.conf is read by something")
    func read() throws {
        let files = try ProductSources.files()
        let tables = files.filter { $0.key.hasPrefix("Configuration/") && $0.value.contains("static let settings") }
        let others = files.filter { !$0.key.hasPrefix("Configuration/") }.map(\.value)
        var keys = 0
        for (file, table) in tables {
            for piece in table.split(separator: "\\.").dropFirst() {
                let property = piece.prefix { $0.isLetter || $0.isNumber }
                // A key path of a Setting goes on with a comma.
                guard piece.dropFirst(property.count).first == "," else { continue }
                keys += 1
                #expect(others.contains { $0.contains(".\(property)") }, "\(file): nothing reads \(property)")
            }
        }
        let known = EngineConfiguration.settings.count + ScreenConfiguration.settings.count
        #expect(keys >= known && known > 20, "\(keys) of \(known) were found")
    }
}
