import Testing

@testable import Terminal

@Suite("Notifications") struct NotificationTests {
    @Test("are one sequence, handed through inside tmux; a semicolon ends no field")
    func sequences() {
        #expect(TerminalModes.notification("a; b", isTitled: false, insideTmux: false) == "\u{1B}]9;a, b\u{7}")
        #expect(
            TerminalModes.notification("a", isTitled: true, insideTmux: true)
                == "\u{1B}Ptmux;\u{1B}\u{1B}]777;notify;martlet;a\u{7}\u{1B}\\")
    }
}
