import TestSupport
import Testing
import TransferModel
import TransferProtocols
import TransferQueue

@testable import TransferEngine

@Suite struct HostBookTests {
    private static let (one, two) = ("http://one:80", "http://two:80")
    private let now = Timestamp(milliseconds: 1_800_000_000_000)

    private func learn(_ hosts: inout HostBook, _ origin: String, _ experience: HostStanding.Experience) -> Bool {
        hosts.learn(origin, experience, limit: 4, now: now, random: 0)
    }

    @Test("slots are counted by host and together, and a host that has all that it may have is full")
    func slots() {
        var hosts = HostBook()
        for origin in [Self.one, Self.one, Self.two] { hosts.takeSlot(at: origin) }
        #expect(hosts.slots.inUse == 3)
        #expect(hosts.full(limit: 2) == [Self.one: 2])
        #expect(!hosts.mayStart(at: Self.one, limit: 2, now: now))
        #expect(hosts.mayStart(at: Self.two, limit: 2, now: now))
        for origin in [Self.one, Self.one, Self.two] { hosts.giveSlot(at: origin) }
        #expect(hosts.slots.inUse == 0)
        #expect(hosts.slots.byHost.isEmpty)
    }

    @Test("only the task that asks a host ends the question")
    func inquiries() {
        var hosts = HostBook()
        let (first, second) = (TaskID(rawValue: 1), TaskID(rawValue: 2))
        hosts.beginInquiry(at: Self.one, by: first)
        #expect(hosts.asked == [Self.one])
        let ended = [second, first, first].map { hosts.endInquiry(at: Self.one, by: $0) }
        #expect(ended == [false, true, false])
        #expect(!hosts.isAsked(Self.one))
    }

    @Test("none of several hosts answers: it is the line")
    func line() {
        var hosts = HostBook()
        _ = learn(&hosts, Self.one, .unreachable)
        #expect(!hosts.noHostAnswers)
        _ = learn(&hosts, Self.two, .unreachable)
        #expect(hosts.noHostAnswers)
        let isBack = learn(&hosts, Self.two, .answered)
        #expect(isBack)
        #expect(!hosts.noHostAnswers)
    }

    @Test("of any number of hosts those that cannot be reached are counted, whatever is learnt and forgotten")
    func unreachable() {
        var hosts = HostBook()
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            let origin = "http://\(Int.random(in: 0..<20, using: &generator)):80"
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: hosts.forgetFailures()
            case 1: hosts.keep([], origins: Set(hosts.standings.keys.filter { $0 != origin }), now: now)
            case 2: hosts.standings[origin] = nil
            case 3: _ = learn(&hosts, origin, .answered)
            default: _ = learn(&hosts, origin, .unreachable)
            }
            #expect(hosts.standings.unreachable == hosts.standings.values.count(where: \.isUnreachable))
        }
    }

    @Test("a batch that a host answers with a no waits alone, and is forgotten with the batch")
    func places() {
        var hosts = HostBook()
        let place = HostTrouble.Place(batch: BatchID(rawValue: 1), origin: Self.one)
        let other = HostTrouble.Place(batch: BatchID(rawValue: 2), origin: Self.one)
        let until = now.advanced(by: .seconds(60))
        _ = hosts.learn(place, .overloaded(until: until, isAsked: false), limit: 4, now: now, random: 0)
        hosts.note(TransferError(.http, "it answered 503", httpStatus: 503), of: place)
        #expect(!hosts.areWell)
        #expect(hosts.isAnyClosed(now))
        #expect(hosts.closedUntil(place, now) == until)
        #expect(hosts.closedUntil(other, now) == nil)
        hosts.move(by: .seconds(10))
        #expect(hosts.closedUntil(place, now) == until.advanced(by: .seconds(10)))
        hosts.keep([other.batch], origins: [Self.one], now: now)
        #expect(hosts.areWell)
        #expect(hosts.placeErrors.isEmpty)
    }

    @Test("a host to which nothing goes any more is forgotten, unless it is to be left alone")
    func forgotten() {
        var hosts = HostBook()
        let until = now.advanced(by: .seconds(60))
        _ = learn(&hosts, Self.one, .overloaded(until: until, isAsked: true))
        hosts.keep([], origins: [], now: now)
        #expect(!hosts.areWell)
        hosts.keep([], origins: [Self.one], now: until)
        #expect(!hosts.areWell)
        hosts.keep([], origins: [], now: until)
        #expect(hosts.areWell)
    }

    @Test("a name that nobody knows is told of at once, unless there is no network")
    func unknownName() {
        var hosts = HostBook()
        _ = learn(&hosts, Self.one, .unreachable)
        #expect(hosts.troubledSince(Self.one, now, lacksNetwork: false) == nil)
        hosts.note(TransferError(.cannotFindHost, "nobody knows it"), of: Self.one)
        #expect(hosts.troubledSince(Self.one, now, lacksNetwork: false) == now)
        #expect(hosts.troubledSince(Self.one, now, lacksNetwork: true) == nil)
    }

    @Test("what is known already is no news")
    func facts() {
        var hosts = HostBook()
        var facts = HostFacts()
        facts.tellsDigests = true
        let news = (0..<2).map { _ in hosts.learn(facts, of: Self.one, at: now) }
        #expect(news == [true, false])
    }
}
