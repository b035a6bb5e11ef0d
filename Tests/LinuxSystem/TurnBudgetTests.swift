import Testing

@testable import LinuxSystem

@Suite struct TurnBudgetTests {
    @Test("a peer that never runs dry is read a fixed number of times in a turn, another until it is dry")
    func rounds() {
        var endless = 0
        TurnBudget.spend {
            endless += 1
            return true
        }
        #expect(endless == TurnBudget.rounds)
        var left = 3
        TurnBudget.spend {
            left -= 1
            return left > 0
        }
        #expect(left == 0)
    }

    @Test("a reader's error ends the turn and is thrown")
    func error() {
        var rounds = 0
        #expect(throws: Errno.inputOutput) {
            try TurnBudget.spend { () throws(Errno) in
                rounds += 1
                throw .inputOutput
            }
        }
        #expect(rounds == 1)
    }
}
