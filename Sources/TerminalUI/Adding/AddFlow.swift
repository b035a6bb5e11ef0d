import Configuration
import DisplayText
import MartletKit
import Terminal

/// Adding a batch in three steps. Each can be left without losing what was chosen before.
struct AddFlow: Sendable {
    /// Uploads: files, where to, how. Downloads: URLs, which folder, how.
    enum Kind: Hashable, Sendable {
        case upload, download
    }

    enum Step: Int, Hashable, Sendable, CaseIterable {
        case first, second, third
    }

    /// A request of the flow to its surroundings.
    enum Effect: Sendable {
        case local(LocalRequest)
        case queue(AddOrder)
        /// Find out whether this destination can be used.
        case test(String)
        /// Gone from the screen, kept for the next time.
        case close
        /// Everything is forgotten.
        case drop
        case help
        /// The names that are not sent.
        case unsent
    }

    let kind: Kind
    private(set) var step = Step.first
    /// The picker of sources, or of the folder that downloads go into.
    var picker: Picker
    var links = LinksStep()
    var destination = DestinationStep()
    /// The configured servers, for what `NAME:path` means.
    var book = DestinationBook.empty()
    /// The batch that is done again: what is sent is settled, where to and how is not.
    private(set) var repeated: RepeatedUpload?
    /// It is cancelled when the new one is queued.
    var replaced: BatchID?
    /// Once the third step was reached.
    var review: ReviewStep?

    init(_ kind: Kind, at folder: [UInt8]) {
        self.kind = kind
        picker = Picker(kind == .upload ? .sources : .target, at: folder)
    }

    /// A batch once more: all that it had is chosen, and the destination comes next.
    /// - Returns: `nil`: it has no sources.
    init?(_ repeated: RepeatedUpload) {
        guard let first = repeated.paths.first else { return nil }
        self.init(.upload, at: (RawPath(first).parent ?? RawPath("/")).bytes)
        self.repeated = repeated
        step = .second
        destination.put(repeated.destination)
    }

    /// The effects wanted each time the flow comes onto the screen.
    var opening: [Effect] {
        let counting = picker.basket.paths.filter { path in
            picker.basket[path].map { $0.isFolder && !$0.count.isComplete } ?? false
        }
        let isEmptyRepeat = repeated != nil && picker.basket.isEmpty
        let sources = isEmptyRepeat ? repeated.map { [Effect.local(.look($0.paths, .choose))] } ?? [] : []
        return Self.effects(picker.first) + counting.map { .local(.count($0)) } + sources + sifting
    }

    /// The effects that count what the patterns leave, unless that is known.
    private var sifting: [Effect] {
        guard let review, case .upload(let paths, _) = review.work else { return [] }
        if review.patterns.isEmpty { return [.local(.stopSifting)] }
        // The words of a repeated upload tell what of a folder goes.
        let words = repeated?.words ?? paths
        return review.remainder?.isComplete == true ? [] : [.local(.sift(words, review.patterns))]
    }

    /// The names of the steps, as they stand in the title.
    var stepNames: [String] {
        kind == .upload ? ["Pick", "Destination", "Review"] : ["URLs", "Folder", "Review"]
    }

    /// True when keys go to the list of files.
    var isPicking: Bool { step == (kind == .upload ? .first : .second) }

    private static func effects(_ effects: [Picker.Effect]) -> [Effect] {
        effects.compactMap { if case .local(let request) = $0 { .local(request) } else { nil } }
    }

    // MARK: Keys

    mutating func take(_ press: KeyPress, _ keys: KeyMap, _ words: ShellWords, _ appearance: Appearance) -> [Effect] {
        if isPicking { return follow(picker.take(press, keys, words, appearance)) }
        switch (step, kind) {
        case (.first, _):
            switch links.take(press, check: Self.refusal(appearance, book)) {
            case .editing: return []
            case .goOn:
                step = .second
                return Self.effects(picker.first)
            case .close: return [.close]
            case .help: return [.help]
            }
        case (.second, _):
            switch destination.take(press) {
            case .editing: return []
            case .entered(let text): return enter(text, appearance)
            case .back where repeated != nil: return [.close]
            case .back:
                step = .first
                return []
            case .close: return [.close]
            case .help: return [.help]
            }
        case (.third, _): return takeInReview(press)
        }
    }

    mutating func paste(_ bytes: [UInt8], _ words: ShellWords, _ appearance: Appearance) -> [Effect] {
        if isPicking { return follow(picker.paste(bytes, words)) }
        switch step {
        case .first: links.paste(bytes, check: Self.refusal(appearance, book))
        case .second: destination.paste(bytes)
        case .third:
            review?.form.paste(bytes)
            if review?.settle() == true { return sifting }
        }
        return []
    }

    /// Takes news about this machine's files and returns the effects.
    mutating func take(_ news: LocalNews, _ words: ShellWords, _ appearance: Appearance) -> [Effect] {
        if case .sifted(let patterns, let count) = news, review?.patterns == patterns { review?.remainder = count }
        // A place to go to is of no use to who has left the picker.
        if case .looked(_, .go) = news, !isPicking {
            picker.forgetLooks()
            return []
        }
        return follow(picker.take(news, words, appearance))
    }

    /// Turns the picker's effects into those of the flow; going on is decided here.
    mutating func follow(_ effects: [Picker.Effect]) -> [Effect] {
        effects.flatMap { effect -> [Effect] in
            switch effect {
            case .local(let request): return [.local(request)]
            case .help: return [.help]
            case .close where kind == .download:
                step = .first
                return []
            case .close: return [.close]
            case .goOn where kind == .upload:
                step = .second
                destination.begin()
                return []
            case .goOn:
                let place = links.urls.first.flatMap { try? book.place($0, "URL") }
                return beginReview(
                    .download(links.urls, into: picker.target), place, asks: place.flatMap(\.loginToAsk))
            }
        }
    }

    private mutating func takeInReview(_ press: KeyPress) -> [Effect] {
        guard var review, !review.isQueueing else {
            return press == .control("c") || press.key == .escape ? [.close] : []
        }
        review.note = nil
        let wantsUnsent = press.key == .function(3) || press == .character("v") && !review.form.isTyping
        let outcome = wantsUnsent ? nil : review.form.take(press)
        self.review = review
        return outcome.map { follow($0) } ?? [.unsent]
    }

    /// From the first step on, wherever it was left: what is chosen goes there and nowhere else.
    mutating func send(to place: String) {
        step = .first
        review = nil
        destination.put(place)
    }

    /// True when keys and clicks go to the last look.
    var isReviewing: Bool { step == .third }

    /// A click into the form of the last look.
    mutating func click(_ target: FormTarget) -> [Effect] {
        guard isReviewing, var review, !review.isQueueing else { return [] }
        review.note = nil
        let outcome = review.form.click(target)
        self.review = review
        return follow(outcome)
    }

    private mutating func follow(_ outcome: Form<ReviewStep.FieldID>.Outcome) -> [Effect] {
        guard var review else { return [] }
        defer { self.review = review }
        switch outcome {
        case .editing:
            guard review.settle() else { return [] }
            self.review = review
            return sifting
        case .pressed(0):
            guard let order = review.order() else { return [] }
            review.isQueueing = true
            return [.queue(order)]
        case .pressed(1), .back:
            step = .second
            return []
        case .pressed: return [.drop]
        case .close: return [.close]
        case .help: return [.help]
        }
    }

    // MARK: From step to step

    /// A destination was entered. Several files go into a folder: the slash that says so is put in by us.
    private mutating func enter(_ text: String, _ appearance: Appearance) -> [Effect] {
        var text = text
        let isSeveral =
            picker.basket.totals.folders > 0 || picker.basket.count > 1
            || repeated?.destination.hasSuffix("/") == true
        let hasQuery = text.contains("?")
        if isSeveral, !text.hasSuffix("/"), !text.hasSuffix(":"), !hasQuery, text.contains(":") { text += "/" }
        let place: DestinationBook.Place
        do throws(QueueingFault) {
            place = try book.place(text, "Where to")
        } catch {
            destination.note = appearance.safe(error.message)
            return []
        }
        destination.put(text)
        let login = place.loginToAsk
        let effects = beginReview(.upload(repeated?.paths ?? picker.basket.paths, to: text), place, asks: login)
        // With a password still to be typed, or known to the engine alone, there is nothing to ask yet.
        let isLent = review?.repeated?.lendsLogin(to: place) ?? false
        guard login == nil, !isLent, review?.tested != text else { return effects }
        review?.tested = text
        return effects + [.test(text)]
    }

    private mutating func beginReview(
        _ work: AddOrder.Work, _ place: DestinationBook.Place?, asks login: LoginQuestion?
    ) -> [Effect] {
        step = .third
        if let review, review.work == work { return [] }
        var next = ReviewStep(
            work, asksPassword: login, destination: place?.destination,
            repeated: repeated, isSameServer: place.flatMap { repeated?.lendsLogin(to: $0) } ?? false)
        // What was filled in before stays.
        if let review { next.adopt(review) }
        _ = next.settle()
        review = next
        return sifting
    }

    /// Returns a check of typed URLs. It says why a URL cannot be downloaded; `nil`: it can.
    private static func refusal(_ appearance: Appearance, _ book: DestinationBook) -> (String) -> SafeText? {
        { text in
            do throws(QueueingFault) {
                let url = try book.place(text, "URL").url
                return url.scheme.downloads ? nil : "\(SafeText(url.scheme.rawValue)):// only sends: use https://."
            } catch {
                return appearance.safe(error.message)
            }
        }
    }
}

/// Steps of adding that were left, and where picking begins the next time.
struct AddDrafts: Sendable {
    var kept: [AddFlow.Kind: AddFlow] = [:]
    var startFolder: [UInt8]

    init(startFolder: [UInt8]) { self.startFolder = startFolder }
}
