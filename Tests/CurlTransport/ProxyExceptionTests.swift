import CurlTransport
import Testing

@Suite struct `Hosts that are reached without a proxy` {
    @Test(
        arguments: [
            ("localhost,127.0.0.1", "localhost", true), ("localhost,127.0.0.1", "127.0.0.1", true),
            ("localhost,127.0.0.1", "127.0.0.2", false), ("*", "anywhere.example", true),
            (".corp", "files.corp", true), ("corp.", "FILES.Corp", true), ("corp", "corp", true),
            ("corp", "xcorp", false), ("files.corp", "corp", false), ("corp", "files.corp.", true),
            ("10.0.0.0/8 192.168.2.0/23", "10.200.0.1", true), ("10.0.0.0/8 192.168.2.0/23", "192.168.3.9", true),
            ("10.0.0.0/8 192.168.2.0/23", "192.168.4.9", false), ("0.0.0.0/0", "8.8.8.8", true),
            ("10.0.0.0/33", "10.0.0.0", false), ("10.0.0.0/x", "10.0.0.0", false), ("10.0.0.0/8", "10.example", false),
            ("[fd00::1],fe80::/10", "[fd00::1]", true), ("[fd00::1],fe80::/10", "[febf::7]", true),
            ("[fd00::1],fe80::/10", "[fec0::7]", false), ("::1", "1", false), ("0.0.1", "127.0.0.1", false),
            ("", "localhost", false), (", .", "localhost", false), ("corp/8", "corp", false),
        ] as [(String, String, Bool)])
    func `by name, address or network`(list: String, host: String, isExcepted: Bool) {
        #expect(ProxyExceptions(list).contains(host) == isExcepted)
    }
}
