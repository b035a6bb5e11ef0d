import Testing

@testable import TransferModel

@Suite struct LoginStandingTests {
    private let one = TaskID(rawValue: 1)
    private let two = TaskID(rawValue: 2)
    private let refusal = LoginStanding.Refusal(.auth, TransferError(.http, "no: sign in", httpStatus: 401))

    @Test("one file tries a login, and all go on when it is let in")
    func probe() {
        var login = LoginStanding()
        #expect(login.mayStart)
        login.began(one)
        #expect(!login.mayStart)
        let (first, second) = (login.wasLetIn(), login.wasLetIn())
        #expect(first == .all && second == .nothing && login.mayStart)
    }

    @Test("what says nothing of the login lets the next file try")
    func noVerdict() {
        var login = LoginStanding()
        login.began(one)
        let other = login.ended(two)
        #expect(!other && !login.mayStart)
        let own = login.ended(one)
        #expect(own && login.mayStart)
    }

    @Test("a refused login is tried again only when a person wants it")
    func refused() {
        var login = LoginStanding()
        login.began(one)
        login.wasRefused(refusal, by: one)
        #expect(!login.mayStart && login.refusal == refusal)
        let (opens, late) = (login.ended(one), login.wasLetIn())
        #expect(!opens && late == .nothing && !login.mayStart)
        login.tryAgain()
        #expect(login.mayStart && login.refusal == nil)
        login.began(two)
        let release = login.wasLetIn()
        #expect(release == .all)
    }

    @Test("a login that was good is doubted first: one more file tries it")
    func doubted() {
        var login = LoginStanding()
        login.began(one)
        _ = login.wasLetIn()
        login.wasRefused(refusal, by: one)
        // Others were under way with it.
        login.wasRefused(refusal, by: two)
        #expect(login.mayStart && login.refusal == nil)
        login.began(two)
        #expect(!login.mayStart)
        var good = login
        // It was the end of a token perhaps: each tries once more.
        let again = good.wasLetIn()
        #expect(again == .tasks([one, two]) && good.mayStart)
        // Or the first one's own address: nothing is gained by its trying a third time.
        good.wasRefused(refusal, by: one)
        good.began(two)
        let line = good.wasLetIn()
        #expect(line == .line && good.mayStart)
        login.wasRefused(refusal, by: two)
        #expect(!login.mayStart)
        login.tryAgain()
        login.began(one)
        let all = login.wasLetIn()
        #expect(all == .all)
    }

    @Test("what began before a doubt does not end it")
    func oldAttempts() {
        var login = LoginStanding()
        login.began(one)
        #expect(login.isConclusive(from: one))
        _ = login.wasLetIn()
        #expect(login.isConclusive(from: two))
        login.wasRefused(refusal, by: two)
        #expect(!login.isConclusive(from: one))
        let three = TaskID(rawValue: 3)
        login.began(three)
        #expect(login.isConclusive(from: three) && !login.isConclusive(from: one))
    }

    @Test("what began before a person wanted another try says neither yes nor no to it")
    func anotherTry() {
        var login = LoginStanding()
        login.began(one)
        login.wasRefused(refusal, by: one)
        _ = login.ended(one)
        login.tryAgain()
        // A long transfer that was let in long ago goes on beside it.
        #expect(!login.isConclusive(from: two))
        login.began(one)
        #expect(login.isConclusive(from: one) && !login.isConclusive(from: two))
        login.wasRefused(refusal, by: two)
        #expect(login.refusal == nil && login.isConclusive(from: one))
        let release = login.wasLetIn()
        #expect(release == .all && login.mayStart)
    }

    @Test("what cannot be had is asked for no more, whatever was let in before")
    func notToBeHad() {
        var login = LoginStanding()
        login.began(one)
        _ = login.wasLetIn()
        login.lookupFailed(refusal)
        #expect(!login.mayStart && login.refusal == refusal)
        login.tryAgain()
        login.began(two)
        let all = login.wasLetIn()
        #expect(all == .all)
        login.wasRefused(refusal, by: one)
        login.lookupFailed(refusal)
        #expect(!login.mayStart)
    }

    @Test("who shows nothing need not be tried")
    func anonymous() {
        var login = LoginStanding(isProven: true)
        login.began(one)
        login.began(two)
        let release = login.wasLetIn()
        #expect(login.mayStart && release == .nothing)
    }
}
