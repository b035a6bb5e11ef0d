import TransferModel
import TransferProtocols
import TransferQueue

/// Hosts as the engine knows them: whether they serve, what they can, and how many connections they have. A value of the engine, which tells it
/// of the ends of attempts (`TransferEngine+Hosts`) and asks it what may start (`TransferEngine+Lanes`).
struct HostBook {
    typealias Place = HostTrouble.Place

    /// Standing of each host, by origin; hosts that have always served are not among them.
    var standings = HostStandings()
    /// The last error of each host that has a standing worth remembering.
    private(set) var errors: [String: TransferError] = [:]
    /// The standing of a host that answers with one batch: an address of the batch may be ill while others of the host are well.
    var places: [Place: HostStanding] = [:]
    /// The last error of each of these.
    var placeErrors: [Place: TransferError] = [:]
    /// Facts learnt about each host, by origin.
    var facts: [String: HostFacts] = [:]
    /// Hosts that a task is asking what they can, and which task: others wait for the answer.
    private var inquirers: [String: TaskID] = [:]
    private(set) var slots = Slots()
    /// Transfers of each host that hold a slot and crawl, as last looked at.
    var crawling: [String: Int] = [:]

    /// All hosts are well.
    var areWell: Bool { standings.isEmpty && places.isEmpty }

    // MARK: Learning

    /// - Returns: true: a host that was held back serves again.
    mutating func learn(
        _ origin: String, _ experience: HostStanding.Experience, limit: Int, now: Timestamp, random: Double
    ) -> Bool {
        var standing = standings[origin] ?? HostStanding(limit: limit)
        let isBack = standing.learn(experience, limit: limit, now: now, random: random)
        standings[origin] = standing
        return isBack
    }

    /// - Returns: true: a host that was held back for one batch serves it again.
    mutating func learn(
        _ place: Place, _ experience: HostStanding.Experience, limit: Int, now: Timestamp, random: Double
    ) -> Bool {
        places[place, default: HostStanding(limit: limit)].learn(experience, limit: limit, now: now, random: random)
    }

    mutating func note(_ error: TransferError?, of origin: String) { errors[origin] = error }
    mutating func note(_ error: TransferError?, of place: Place) { placeErrors[place] = error }

    /// Forgets a place where nothing is left to remember, as if nothing had been.
    mutating func forgetIfWell(_ place: Place, limit: Int, now: Timestamp) {
        if places[place]?.isWell(limit: limit, now: now) == true { (places[place], placeErrors[place]) = (nil, nil) }
    }

    /// Forgets the places of all batches but these, and hosts that none of them goes to, unless they are to be left alone.
    mutating func keep(_ batches: Set<BatchID>, origins: Set<String>, now: Timestamp) {
        standings.keep { host, standing in
            origins.contains(host) || slots.byHost[host] != nil || standing.closedUntil.map { now < $0 } ?? false
        }
        errors = errors.filter { standings[$0.key] != nil }
        if places.isEmpty { return }
        places = places.filter { batches.contains($0.key.batch) }
        placeErrors = placeErrors.filter { batches.contains($0.key.batch) }
    }

    /// Has all hosts tried again at once.
    mutating func forgetFailures() {
        for host in Array(standings.keys) { standings[host]?.forgetFailures() }
        for place in places.keys { places[place]?.forgetFailures() }
    }

    /// Somebody has set the clock: what waits for so long waits for so long.
    mutating func move(by step: Duration) {
        for host in Array(standings.keys) { standings[host]?.move(by: step) }
        for place in places.keys { places[place]?.move(by: step) }
    }

    /// - Returns: true: that was not known.
    mutating func learn(_ learnt: HostFacts, of origin: String, at now: Timestamp) -> Bool {
        let known = facts[origin] ?? HostFacts()
        let merged = known.learning(learnt, at: now)
        if merged == known { return false }
        facts[origin] = merged
        return true
    }

    // MARK: What may start

    /// Returns true when one more may start at a host.
    func mayStart(at origin: String, limit: Int, now: Timestamp) -> Bool {
        let active = slots.byHost[origin] ?? 0
        return standings[origin]?.mayStart(active: active, limit: limit, now: now) ?? (active < limit)
    }

    /// Files that a host lets have a slot at the same time.
    func allowance(of origin: String, limit: Int) -> Int { standings[origin]?.allowance(limit: limit) ?? limit }

    /// Hosts that have as many as they may have, and how many that is.
    func full(limit: Int) -> [String: Int] {
        var full: [String: Int] = [:]
        for (host, active) in slots.byHost {
            let most = allowance(of: host, limit: limit)
            if active >= most { full[host] = most }
        }
        return full
    }

    /// When something of a batch may be asked of a host again; `nil`: now.
    func closedUntil(_ place: Place, _ now: Timestamp) -> Timestamp? {
        let times = [standings[place.origin]?.closedUntil, places[place]?.closedUntil]
        return times.compactMap { $0 }.filter { now < $0 }.max()
    }

    /// Some host is left alone now.
    func isAnyClosed(_ now: Timestamp) -> Bool {
        func isClosed(_ standing: HostStanding) -> Bool { standing.closedUntil.map { now < $0 } ?? false }
        return standings.values.contains(where: isClosed) || places.values.contains(where: isClosed)
    }

    mutating func takeSlot(at origin: String) { slots.take(at: origin) }
    mutating func giveSlot(at origin: String) { slots.give(at: origin) }

    // MARK: Inquiries

    /// Hosts that one file asks what they can.
    var asked: Set<String> { Set(inquirers.keys) }

    func isAsked(_ origin: String) -> Bool { inquirers[origin] != nil }

    mutating func beginInquiry(at origin: String, by task: TaskID) { inquirers[origin] = task }

    /// - Returns: false: that task was not asking.
    mutating func endInquiry(at origin: String, by task: TaskID) -> Bool {
        guard inquirers[origin] == task else { return false }
        inquirers[origin] = nil
        return true
    }

    // MARK: Troubles

    /// Several hosts are known, and none of them can be reached: it is the line.
    var noHostAnswers: Bool {
        standings.count > 1 && standings.unreachable == standings.count
            && places.keys.allSatisfy { standings[$0.origin] != nil }
    }

    /// A name that nobody knows is told of at once, unless there is no network at all.
    func troubledSince(
        _ origin: String, _ now: Timestamp, lacksNetwork: @autoclosure () -> Bool
    ) -> Timestamp? {
        guard let host = standings[origin] else { return nil }
        guard errors[origin]?.code == .cannotFindHost else { return host.troubledSince(now) }
        return lacksNetwork() ? nil : host.refusedSince
    }

    /// When the next trouble will have gone on for long enough to be told of; `nil`: none is coming.
    func troubleDue(_ now: Timestamp) -> Timestamp? {
        (Array(standings.values) + places.values).compactMap { $0.troubleDue(now) }.min()
    }
}

/// The standings of hosts by their origins, and how many of them cannot be reached: each failure asks for that, and there may be thousands.
struct HostStandings {
    private var byHost: [String: HostStanding] = [:]
    private(set) var unreachable = 0

    var isEmpty: Bool { byHost.isEmpty }
    var count: Int { byHost.count }
    var keys: Dictionary<String, HostStanding>.Keys { byHost.keys }
    var values: Dictionary<String, HostStanding>.Values { byHost.values }

    subscript(origin: String) -> HostStanding? {
        get { byHost[origin] }
        set {
            if byHost[origin]?.isUnreachable == true { unreachable -= 1 }
            byHost[origin] = newValue
            if newValue?.isUnreachable == true { unreachable += 1 }
        }
    }

    mutating func keep(_ isKept: (_ origin: String, _ standing: HostStanding) -> Bool) {
        byHost = byHost.filter { isKept($0.key, $0.value) }
        unreachable = byHost.values.count(where: \.isUnreachable)
    }
}

/// The slots that are taken, of hosts by origin and together. A slot is the place of a connection, taken by a file or by a question.
struct Slots {
    private(set) var byHost: [String: Int] = [:]
    private(set) var inUse = 0

    mutating func take(at origin: String) {
        byHost[origin, default: 0] += 1
        inUse += 1
    }

    mutating func give(at origin: String) {
        inUse -= 1
        let left = (byHost[origin] ?? 1) - 1
        byHost[origin] = left > 0 ? left : nil
    }
}
