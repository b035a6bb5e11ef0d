import Configuration
import DisplayText
import MartletKit
import Terminal

/// The last look before a batch is queued: what, where to, and how.
struct ReviewStep: Sendable {
    enum FieldID: Hashable, Sendable {
        case name, password, ifExists, verify, links, include, exclude, limit, priority, order, start, time
    }

    /// The sources and the destination; the form says how.
    let work: AddOrder.Work
    var form: Form<FieldID>
    /// The form as it was before anybody changed it.
    private let proposed: Form<FieldID>
    /// Fields that a person has chosen a value for before another destination, which may propose the same.
    private var chosen: Set<FieldID> = []
    var note: (text: SafeText, isError: Bool)?
    /// The engine is being asked; keys wait.
    var isQueueing = false

    /// The count of files that the patterns leave; `nil`: there are no patterns, or nothing is counted yet.
    var remainder: FolderCount?
    /// For which patterns.
    private(set) var patterns = NamePatterns()

    /// The upload that is repeated; `nil`: something new.
    let repeated: RepeatedUpload?
    /// The values that the fields have until the user changes them.
    let usual: UsualChoices

    /// The destination about which it was asked whether the server can be used, and the answer.
    var tested: String?
    var finding: DestinationOutcome?

    /// - Parameters:
    ///   - asksPassword: of the login that nothing else gives.
    ///   - destination: a configured server; what it says of a field stands in it.
    ///   - repeated: what is done again: what was chosen for it stands in the fields.
    ///   - isSameServer: it goes to the server that it went to.
    init(
        _ work: AddOrder.Work, asksPassword: LoginQuestion?, destination: Destination? = nil,
        repeated: RepeatedUpload? = nil,
        isSameServer: Bool = false
    ) {
        self.work = work
        self.repeated = repeated
        let usual = UsualChoices(work, destination, repeated, isSameServer: isSameServer)
        self.usual = usual
        var fields: [Form<FieldID>.Field] = [
            .text(
                .name, "Name", usual.name,
                help: "What the batch is called; left empty it is made from the files.")
        ]
        if let login = asksPassword {
            fields.append(
                .text(
                    .password, "Password", help: "For \(login.words); the engine keeps it until the batch is cleared.",
                    isSecret: true))
        }
        fields.append(
            .choice(.ifExists, "If it exists", ExistingFilePolicy.built.map { ($0.rawValue, Self.meaning($0)) }))
        fields.append(
            .choice(
                .verify, "Check by",
                // What is asked for already can be changed, and not to nothing said.
                (usual.verify == nil ? [("best", "The best check that the server offers.")] : [])
                    + [
                        ("size", "The size at the server is compared."),
                        ("digest", "A digest is compared; fails where the server has none."),
                        ("none", "Nothing is compared."),
                    ]))
        if case .upload = work {
            fields += [
                .choice(
                    .links, "Links",
                    // Links that were followed cannot be left out by the command that does it again.
                    (usual.followsLinks ? [] : [("leave out", "Symbolic links are not sent.")])
                        + [("follow", "What symbolic links point to is sent.")]),
                .text(.include, "Only files", help: "Patterns such as *.jpg raw/**, with blanks between; empty: all."),
                .text(.exclude, "Leave out", help: "Patterns such as *.tmp .git/**, with blanks between."),
            ]
        }
        fields += [
            .text(.limit, "Speed limit", help: "Bytes a second, such as 512K or 8M; empty: unlimited."),
            .choice(
                .priority, "Priority",
                [
                    ("normal", "In line with other batches."), ("high", "Before batches of normal priority."),
                    ("interactive", "Before everything else."), ("background", "After everything else."),
                    ("low", "After batches of normal priority."),
                ]),
            .choice(
                .order, "Order",
                [
                    ("last", "Behind the batches that are queued already."),
                    ("first", "Before all other batches of its priority."),
                ]),
            .choice(
                .start, "Start",
                [
                    ("now", "As soon as there is a free slot."), ("held", "Not before you resume it."),
                    ("at a time", "Not before the time in the next line."),
                ]),
        ]
        let verb: String = if case .upload = work { "Start upload" } else { "Start download" }
        form = Form(fields, buttons: [verb, "Back", "Cancel"], selectsButtons: asksPassword == nil)
        if asksPassword != nil { form.select(.password) }
        form.set(.ifExists, to: usual.ifExists)
        if let verify = usual.verify { form.set(.verify, to: verify) }
        if let limit = usual.limit { form.set(.limit, to: RateLimit.bytesPerSecond(limit).written) }
        form.set(.priority, to: usual.priority)
        if usual.followsLinks { form.set(.links, to: "follow") }
        form.set(.include, to: Self.line(usual.include))
        form.set(.exclude, to: Self.line(usual.exclude))
        proposed = form
    }

    /// Takes over what a person has changed in the form before, of another destination: what its server says of a field is that server's.
    mutating func adopt(_ before: ReviewStep) {
        func value(_ field: FieldID, _ form: Form<FieldID>) -> String { form.word(field) ?? form.text(field) }
        for field in before.form.fields where field.id != .password {
            let now = value(field.id, before.form)
            // As the server proposes it, too, once something was chosen.
            if now == value(field.id, before.proposed), !before.chosen.contains(field.id) { continue }
            chosen.insert(field.id)
            form.set(field.id, to: now)
            // The field for a time comes with the choice of one.
            if field.id == .start { _ = settle() }
        }
    }

    /// Fields that others call for come and go. True: the patterns are others than before.
    mutating func settle() -> Bool {
        form.show(
            .text(.time, "Not before", help: "18:00, 2026-12-24T06:00 or +2h from now."), behind: .start,
            when: form.word(.start) == "at a time")
        let now = NamePatterns(include: Self.words(form.text(.include)), exclude: Self.words(form.text(.exclude)))
        guard now != patterns else { return false }
        (patterns, remainder) = (now, nil)
        return true
    }

    /// Makes the order to be queued; `nil`: a field is wrong, and the note says which.
    mutating func order() -> AddOrder? {
        var order = AddOrder(work)
        // What would be made anyway need not be said.
        order.repeated = repeated
        order.name = form.text(.name) == usual.name ? "" : form.text(.name)
        guard order.name.isEmpty || BatchName(rawValue: order.name) != nil else {
            return wrong(.name, "A name has up to 1000 bytes: type a shorter one.")
        }
        order.isFirst = form.word(.order) == "first"
        let (existing, verify) = (form.word(.ifExists) ?? "fail", form.word(.verify))
        order.ifExists = existing == usual.ifExists ? nil : ExistingFilePolicy(rawValue: existing)
        order.verify = verify == usual.verify ? nil : verify.flatMap(VerificationWish.init(rawValue:))
        order.followLinks = form.word(.links) == "follow"
        for field in [FieldID.include, .exclude] where ShellWords.patterns(form.text(field)) == nil {
            return wrong(field, "A quote is not closed: write \\' for an apostrophe.")
        }
        for field in [FieldID.include, .exclude]
        where Self.words(form.text(field)).contains(where: TransferOptions.hasBraceList) {
            return wrong(field, "A list in braces is no pattern: write each by itself, such as *.jpg *.png")
        }
        order.include = Self.words(form.text(.include))
        order.exclude = Self.words(form.text(.exclude))
        order.priority = form.word(.priority).flatMap(TransferPriority.init(rawValue:)) ?? .normal
        guard readLimit(into: &order), readStart(into: &order) else { return nil }
        let password = form.text(.password)
        if form.fields.contains(where: { $0.id == .password }) {
            guard !password.isEmpty else { return wrong(.password, "The URL names a user: type the password.") }
            order.password = password
        }
        return order
    }

    private static func meaning(_ policy: ExistingFilePolicy) -> String {
        switch policy {
        case .fail: "What is there stays; a different file there is an error to look at."
        case .skip: "What is there stays and counts as done."
        case .replace: "What is there is replaced."
        case .rename: "What is there stays; the file gets another name."
        case .resume: "A shorter file that another tool began is continued."
        }
    }

    private mutating func readLimit(into order: inout AddOrder) -> Bool {
        let text = form.text(.limit)
        guard let rate = RateLimit(text.isEmpty ? "off" : text) else {
            _ = wrong(.limit, "\(SafeText(text)) is no speed: write bytes a second such as 512K or 8M.")
            return false
        }
        order.limit = rate.bytesPerSecond == usual.limit ? nil : rate
        return true
    }

    private mutating func readStart(into order: inout AddOrder) -> Bool {
        switch form.word(.start) {
        case "held": order.start = .held
        case "at a time":
            let text = form.text(.time)
            guard WrittenTime(text) != nil else {
                _ = wrong(.time, "\(SafeText(text)) is no time: write 18:00, 2026-12-24T06:00 or +2h.")
                return false
            }
            order.start = .at(text)
        default: order.start = .now
        }
        return true
    }

    /// The order that the form describes so far, for the command that is shown.
    var sketch: AddOrder {
        var copy = self
        copy.form.set(.password, to: "x")
        if RateLimit(copy.form.text(.limit)) == nil { copy.form.set(.limit, to: "") }
        if WrittenTime(copy.form.text(.time)) == nil { copy.form.set(.start, to: "now") }
        if let order = copy.order() { return order }
        var bare = AddOrder(work)
        bare.repeated = repeated
        return bare
    }

    private mutating func wrong(_ field: FieldID, _ why: SafeText) -> AddOrder? {
        form.select(field)
        note = (why, true)
        return nil
    }

    /// More paths or URLs than a command line takes: Linux has room for 2 MiB, and nobody copies as much from a screen.
    var isTooLongForCommand: Bool {
        switch work {
        case .upload(let paths, _): Self.isTooLong(paths, \.count)
        case .download(let urls, _): Self.isTooLong(urls, \.utf8.count)
        }
    }

    private static func isTooLong<Word>(_ words: [Word], _ bytes: (Word) -> Int) -> Bool {
        words.count > 2000 || words.reduce(0) { $0 + bytes($1) } > 1 << 16
    }

    /// The patterns as they are typed.
    private static func line(_ patterns: [String]) -> String {
        let quoted = patterns.map { ShellWords.quote(Array($0.utf8)) }
        return String(decoding: Array(quoted.joined(separator: [0x20])), as: UTF8.self)
    }

    /// Until a quote is closed all of it is one pattern.
    private static func words(_ text: String) -> [String] { ShellWords.patterns(text) ?? [text] }
}

/// The shell patterns that choose the names to be sent; `exclude` wins.
struct NamePatterns: Hashable, Sendable {
    var include: [String] = []
    var exclude: [String] = []

    var isEmpty: Bool { include.isEmpty && exclude.isEmpty }
}
