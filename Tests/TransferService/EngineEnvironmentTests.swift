import Testing

@testable import TransferService

@Suite("The environment of the engine") struct EngineEnvironmentTests {
    @Test("a variable's name ends at its first byte =, whatever follows it; the first of a name counts")
    func variables() {
        let entries = [
            "HOME=/home/me", "PATH=\u{301}/bin", "LANG=", "HOME=/other", "TZ=a=b", "ANY=\u{301}x", "USER\u{301}=x",
            "USER",
            "\u{212A}=x", "=x", "", "https_proxy=\u{FE0F}",
        ]
        let found = EngineEnvironment.variables(entries.map { Array($0.utf8) })
        let shown = found.map { String(decoding: $0.name + [UInt8(ascii: "=")] + $0.value, as: UTF8.self) }
        #expect(shown == ["HOME=/home/me", "PATH=\u{301}/bin", "LANG=", "TZ=a=b"])
    }
}
