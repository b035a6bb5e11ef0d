import Testing
import TransferModel

private let start = Timestamp(milliseconds: 1_000_000)

private func after(_ seconds: Int64) -> Timestamp { start.advanced(by: .seconds(seconds)) }

@Suite struct SchedulerChoiceTests {
    private func lane(
        _ id: Int64, _ host: String, _ priority: TransferPriority = .normal, _ position: Int64 = 0, ready: Int = 1
    ) -> SchedulerLane {
        SchedulerLane(id: id, host: host, priority: priority, position: position, ready: ready)
    }

    @Test("the highest priority comes first, then the queue's order")
    func order() {
        let lanes = [lane(1, "a", .normal, 2), lane(2, "a", .normal, 1), lane(3, "a", .high, 9), lane(4, "a", .low, 0)]
        #expect(lanes.sorted(by: SchedulerLane.comesBefore).map(\.id) == [3, 2, 1, 4])
    }

    @Test("what is wanted now comes before every priority, and of one batch the lane whose next task comes first")
    func urgent() {
        var lanes = [
            lane(1, "a", .interactive), lane(2, "a", .low), lane(3, "a", .normal, 5), lane(4, "b", .normal, 5),
        ]
        lanes[1].isUrgent = true
        lanes[2].next = 9
        lanes[3].next = 7
        #expect(lanes.sorted(by: SchedulerLane.comesBefore).map(\.id) == [2, 1, 4, 3])
    }

    @Test("hosts are limited with their port and without")
    func hosts() {
        #expect(LimitScope.hosts(of: "https://nas.example:443") == [.host("nas.example:443"), .host("nas.example")])
        #expect(LimitScope.hosts(of: "sftp://[::1]:22") == [.host("[::1]:22"), .host("[::1]")])
        #expect(LimitScope.hosts(of: "s3://bucket") == [.host("bucket")])
    }

    @Test("a lane without tasks at hand, or with a full host, lets the next one pass")
    func passing() {
        let lanes = [lane(1, "full"), lane(2, "free", ready: 0), lane(3, "free")]
        #expect(SchedulerChoice.next(lanes[...], slots: SchedulerSlots(free: 1)) { $0.host == "free" } == 2)
        #expect(SchedulerChoice.next(lanes[...], slots: SchedulerSlots(free: 0)) { _ in true } == nil)
        #expect(SchedulerChoice.next(lanes[...], slots: SchedulerSlots(free: 8)) { _ in false } == nil)
    }

    @Test("one look at thousands of hosts asks each of them once, however much starts")
    func steps() {
        var lanes = (0..<5000).map { lane(Int64($0), "host\($0)", ready: $0 < 4000 || $0 % 10 > 0 ? 1 : 2) }
        var (asked, started, passed) = (0, 0, 0)
        while started < 200,
            let index = SchedulerChoice.next(
                lanes[passed...], slots: SchedulerSlots(free: 200 - started),
                mayStart: { lane in
                    asked += 1
                    return lane.id >= 4000
                })
        {
            lanes[index].ready -= 1
            (started, passed) = (started + 1, index)
        }
        #expect(started == 200 && asked <= lanes.count + started)
    }

    @Test("transfers that crawl take slots from their own host alone, and never more than all but one")
    func crawling() {
        let lanes = [lane(1, "slow"), lane(2, "quick")]
        func next(free: Int, _ crawling: [String: Int], lent: Int = 7) -> Int? {
            SchedulerChoice.next(lanes[...], slots: SchedulerSlots(free: free, crawling: crawling, lent: lent)) { _ in
                true
            }
        }
        #expect(next(free: 1, [:]) == 0)
        #expect(next(free: 0, [:]) == nil)
        #expect(next(free: 0, ["slow": 8]) == 1)
        #expect(next(free: -6, ["slow": 8]) == 1 && next(free: -7, ["slow": 8]) == nil)
        #expect(next(free: 0, ["slow": 1]) == 1 && next(free: -1, ["slow": 1]) == nil)
        #expect(next(free: -1, ["slow": 1, "other": 1]) == 1)
        #expect(next(free: 0, ["slow": 1], lent: 0) == nil, "one at a time means that")
    }

    @Test("a transfer crawls that took more than a minute for its last 64 KiB")
    func crawlMark() {
        func at(_ seconds: Int64) -> Int64 { seconds * 1_000_000_000 }
        var mark = CrawlMark(at: at(5))
        #expect(!mark.isCrawling(at: at(64)) && mark.isCrawling(at: at(65)))
        mark.add(65_535, at: at(70))
        #expect(mark.isCrawling(at: at(70)))
        mark.add(1, at: at(80))
        #expect(!mark.isCrawling(at: at(139)) && mark.isCrawling(at: at(140)))
    }

    @Test("enough is claimed ahead for fast small files, and little for slow large ones")
    func claiming() {
        #expect(SchedulerChoice.claim(ready: 0, window: 32) == 32)
        #expect(SchedulerChoice.claim(ready: 16, window: 32) == 16)
        #expect(SchedulerChoice.claim(ready: 17, window: 32) == 0)
        #expect(SchedulerChoice.window(after: 32) == 64)
        #expect(SchedulerChoice.window(after: 512) == 512)
    }
}

@Suite struct HostStandingTests {
    @Test("a fresh host takes as many as the limit says")
    func fresh() {
        let host = HostStanding(limit: 8)
        #expect(host.mayStart(active: 7, limit: 8, now: start))
        #expect(!host.mayStart(active: 8, limit: 8, now: start))
    }

    @Test("an overloaded host gets half as many, after the time it asked for, and grows back with its answers")
    func overload() {
        var host = HostStanding(limit: 8)
        _ = host.learn(.overloaded(until: after(2)), limit: 8, now: start, random: 0.5)
        #expect(!host.mayStart(active: 0, limit: 8, now: after(1)))
        #expect(host.mayStart(active: 3, limit: 8, now: after(2)))
        #expect(!host.mayStart(active: 4, limit: 8, now: after(2)))
        // The same outburst does not halve twice.
        _ = host.learn(.overloaded(until: after(3)), limit: 8, now: after(1), random: 0.5)
        #expect(host.share == 4 && host.closedUntil == after(3))
        for _ in 0..<16 { _ = host.learn(.answered, limit: 8, now: after(4), random: 0.5) }
        #expect(host.share == 5)
        for _ in 0..<200 { _ = host.learn(.answered, limit: 8, now: after(4), random: 0.5) }
        #expect(host.share == 8)
    }

    @Test("a host that cannot be reached is felt for by one at a time, with growing pauses, and its return is told")
    func unreachable() {
        var host = HostStanding(limit: 8)
        _ = host.learn(.unreachable, limit: 8, now: start, random: 1)
        #expect(!host.mayStart(active: 0, limit: 8, now: start))
        #expect(host.mayStart(active: 0, limit: 8, now: after(1)))
        #expect(!host.mayStart(active: 1, limit: 8, now: after(1)))
        for seconds in [1, 3, 7] { _ = host.learn(.unreachable, limit: 8, now: after(Int64(seconds)), random: 1) }
        #expect(!host.mayStart(active: 0, limit: 8, now: after(14)))
        #expect(host.mayStart(active: 0, limit: 8, now: after(15)))
        let isBack = host.learn(.answered, limit: 8, now: after(15), random: 1)
        #expect(isBack && host.mayStart(active: 7, limit: 8, now: after(15)))
        let isBackAgain = host.learn(.answered, limit: 8, now: after(15), random: 1)
        #expect(!isBackAgain)
    }

    @Test("eight that are refused at once are one failure: a server that restarts is not left alone for a minute")
    func outburst() {
        for experience in [HostStanding.Experience.unreachable, .failed] {
            var host = HostStanding(limit: 8)
            for _ in 0..<12 { _ = host.learn(experience, limit: 8, now: start, random: 1) }
            #expect(host.isOnTrial && !host.mayStart(active: 0, limit: 8, now: start))
            #expect(host.mayStart(active: 0, limit: 8, now: after(1)))
        }
    }

    @Test("moving bytes open a host that could not be reached, not one that answered with errors")
    func reached() {
        var host = HostStanding(limit: 8)
        _ = host.learn(.unreachable, limit: 8, now: start, random: 1)
        let isBack = host.learn(.reached, limit: 8, now: after(1), random: 1)
        #expect(isBack && !host.isOnTrial && host.mayStart(active: 7, limit: 8, now: after(1)))
        for _ in 0..<HostStanding.patience { _ = host.learn(.failed, limit: 8, now: after(1), random: 0) }
        let isWell = host.learn(.reached, limit: 8, now: after(2), random: 1)
        #expect(!isWell && host.isOnTrial)
    }

    @Test("after five failures in a row one attempt at a time goes")
    func circuit() {
        var host = HostStanding(limit: 8)
        for _ in 0..<4 { _ = host.learn(.failed, limit: 8, now: start, random: 0) }
        #expect(host.mayStart(active: 7, limit: 8, now: start))
        _ = host.learn(.failed, limit: 8, now: start, random: 1)
        #expect(!host.mayStart(active: 0, limit: 8, now: start))
        #expect(host.mayStart(active: 0, limit: 8, now: after(1)))
        #expect(!host.mayStart(active: 1, limit: 8, now: after(1)))
        let isBack = host.learn(.answered, limit: 8, now: start, random: 0)
        #expect(isBack)
    }

    /// With the longest pause that its own rule allows.
    private func learn(_ experience: HostStanding.Experience, _ host: inout HostStanding, at seconds: Int64) {
        _ = host.learn(experience, limit: 8, now: after(seconds), random: 0.999)
    }

    @Test("a host that serves nothing, three tries in a row over ten seconds, is something to tell, until it serves")
    func trouble() {
        var host = HostStanding(limit: 8)
        for _ in 0..<8 { learn(.unreachable, &host, at: 0) }
        #expect(host.troubledSince(after(20)) == nil, "eight that met the same are one try")
        for seconds in [3, 8] as [Int64] { learn(.unreachable, &host, at: seconds) }
        #expect(host.troubledSince(after(9)) == nil, "a restart")
        #expect(host.troubledSince(after(10)) == start)
        learn(.reached, &host, at: 11)
        #expect(host.troubledSince(after(60)) == nil, "bytes move")
        for seconds in [20, 40] as [Int64] { learn(.failed, &host, at: seconds) }
        #expect(host.troubledSince(after(60)) == nil, "twice is not often")
        learn(.failed, &host, at: 60)
        #expect(host.troubledSince(after(60)) == after(20))
        // Who tries now knows of it.
        host.forgetFailures()
        #expect(host.troubledSince(after(60)) == after(20))
        learn(.answered, &host, at: 61)
        #expect(host.troubledSince(after(600)) == nil)
    }

    @Test("a pause that a host asks for is no trouble; a minute of it is, in one or in several, and is told at once")
    func askedPauses() {
        var host = HostStanding(limit: 8)
        for _ in 0..<8 { learn(.overloaded(until: after(30)), &host, at: 0) }
        #expect(host.troubledSince(after(29)) == nil, "a busy moment")
        learn(.answered, &host, at: 31)
        learn(.overloaded(until: after(90)), &host, at: 32)
        #expect(host.troubledSince(after(89)) == nil)
        learn(.overloaded(until: after(120)), &host, at: 90)
        #expect(host.troubledSince(after(90)) == after(32) && host.isAskedPause)
        learn(.failed, &host, at: 121)
        #expect(host.troubledSince(after(121)) == after(32) && !host.isAskedPause, "it is ill in another way")
        learn(.answered, &host, at: 122)
        #expect(host.troubledSince(after(600)) == nil && !host.isAskedPause)
        learn(.overloaded(until: after(3800)), &host, at: 200)
        #expect(host.troubledSince(after(200)) == after(200) && host.isAskedPause, "nobody tries before it is over")
        learn(.answered, &host, at: 201)
        #expect(host.troubledSince(after(202)) == after(200) && host.isAskedPause, "that one was under way before")
    }

    @Test("one that says it is busy, and not for how long, serves nothing after three tries")
    func busy() {
        var host = HostStanding(limit: 8)
        for seconds in [0, 0, 5, 15] as [Int64] {
            learn(.overloaded(until: after(seconds + 1), isAsked: false), &host, at: seconds)
        }
        #expect(host.troubledSince(after(15)) == start && !host.isAskedPause)
    }

    @Test("one that says it is busy, and not for how long, is asked at once when a person says so")
    func busyAskedAnyway() {
        var host = HostStanding(limit: 8)
        learn(.overloaded(until: after(60), isAsked: false), &host, at: 0)
        #expect(!host.mayStart(active: 0, limit: 8, now: after(1)) && !host.isAskedToWait(after(1)))
        host.forgetFailures()
        #expect(host.mayStart(active: 0, limit: 8, now: after(1)))
    }

    @Test("a new network opens a host that could not be reached or broke off, but not one that asked for a pause")
    func newNetwork() {
        var host = HostStanding(limit: 8)
        _ = host.learn(.unreachable, limit: 8, now: start, random: 1)
        host.forgetFailures()
        #expect(host.mayStart(active: 7, limit: 8, now: start))
        for _ in 0..<HostStanding.patience + 3 { _ = host.learn(.failed, limit: 8, now: start, random: 1) }
        #expect(!host.mayStart(active: 0, limit: 8, now: start))
        host.forgetFailures()
        #expect(host.mayStart(active: 7, limit: 8, now: start))
        _ = host.learn(.overloaded(until: after(60)), limit: 8, now: start, random: 1)
        host.forgetFailures()
        #expect(!host.mayStart(active: 0, limit: 8, now: start))
    }
}

@Suite struct RetryTests {
    @Test("the first retry comes at once, later ones under a doubling cap, with long pauses after twenty")
    func jitter() {
        let rule = RetryRule()
        #expect(rule.delay(failures: 1, random: 0.999) < .milliseconds(250))
        #expect(rule.delay(failures: 2, random: 0.5) == .seconds(1))
        #expect(rule.delay(failures: 5, random: 0.5) == .seconds(8))
        #expect(rule.delay(failures: 15, random: 0.5) == .seconds(30))
        #expect(rule.delay(failures: 21, random: 0.5) == .seconds(150))
        #expect(rule.delay(failures: 0, random: 0) == .zero)
    }

    @Test("Retry-After is a floor, clamped to a day, and a past one is none")
    func retryAfter() {
        let rule = RetryRule()
        #expect(rule.delay(failures: 1, retryAfter: .seconds(2), random: 0) == .seconds(2))
        #expect(rule.delay(failures: 9, retryAfter: .seconds(2), random: 0.999) <= .seconds(3))
        #expect(rule.delay(failures: 1, retryAfter: .seconds(-5), random: 0) == .zero)
        #expect(rule.delay(failures: 1, retryAfter: .seconds(1 << 40), random: 0) == .seconds(86_400))
        // Without end it shortens nothing, and no time at all never does.
        #expect(rule.delay(failures: 21, retryAfter: .seconds(2), random: 0.5) == .seconds(150))
        #expect(rule.delay(failures: 5, retryAfter: .zero, random: 0.5) == rule.delay(failures: 5, random: 0.5))
    }

    @Test("who waits for a person has no retry; full disks are looked at again, less and less often")
    func waits() {
        let rule = WaitRule()
        #expect(rule.delay(.auth, failures: 1, random: 0.5) == nil)
        #expect(rule.delay(.diskSpace, failures: 1, random: 0.5) == .seconds(5))
        #expect(rule.delay(.diskSpace, failures: 9, random: 0.5) == .seconds(30))
        #expect(rule.delay(.remoteDiskSpace, failures: 1, random: 0.5) == .seconds(60))
        #expect(rule.delay(.remoteDiskSpace, failures: 1, retryAfter: .seconds(900), random: 0) == .seconds(900))
        #expect(rule.delay(.hostBackoff, failures: 1, retryAfter: .seconds(2), random: 0) == .seconds(2))
    }

    @Test("a changed source begins again three times, or not at all")
    func changedSource() {
        #expect(
            (0...4).map { SourceChangeRule.beginsAgain(.restart, changes: $0) } == [true, true, true, false, false])
        #expect(!SourceChangeRule.beginsAgain(.fail, changes: 0))
    }

    @Test("a change counts where it spoilt a copy, and a person who tries again begins with none")
    func countedChanges() {
        func count(isOpen: Bool = false, hasGoneOut: Bool) -> Int {
            SourceChangeRule.count(after: 2, isOpen: isOpen, hasGoneOut: hasGoneOut)
        }
        #expect(count(hasGoneOut: true) == 3 && count(hasGoneOut: false) == 2)
        #expect(count(isOpen: true, hasGoneOut: true) == 0)
    }
}

@Suite struct SpeedMeterTests {
    private func second(_ number: Double) -> Int64 { Int64(number * 1e9) }

    @Test("a steady stream shows its speed from the start, without creeping up to it")
    func steady() {
        var meter = SpeedMeter(at: 0)
        for step in 1...100 {
            meter.add(100_000, at: second(Double(step) / 10))
            let shown = meter.bytesPerSecond(at: second(Double(step) / 10))
            if step >= 5 { #expect(abs(shown - 1_000_000) < 120_000) }
        }
    }

    @Test("a new speed is shown within seconds, and silence is zero")
    func changing() {
        var meter = SpeedMeter(at: 0)
        for step in 1...100 { meter.add(100_000, at: second(Double(step) / 10)) }
        for step in 101...250 { meter.add(10_000, at: second(Double(step) / 10)) }
        #expect(abs(meter.bytesPerSecond(at: second(25)) - 100_000) < 20_000)
        #expect(meter.bytesPerSecond(at: second(36)) == 0)
        #expect(meter.isQuiet(at: second(36)))
    }

    @Test("time left is unknown while nothing moves or the total is not known")
    func timeLeft() {
        #expect(SpeedMeter.secondsLeft(nil, bytesPerSecond: 5) == nil)
        #expect(SpeedMeter.secondsLeft(10, bytesPerSecond: 0) == nil)
        #expect(SpeedMeter.secondsLeft(11, bytesPerSecond: 5) == 3)
        #expect(SpeedMeter.secondsLeft(0, bytesPerSecond: 5) == 0)
    }
}
