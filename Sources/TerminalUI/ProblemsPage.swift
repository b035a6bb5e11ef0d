import DisplayText
import MartletKit
import Terminal

/// What failed or needs the person, one line a cause: a thousand files that failed for one reason are one problem.
struct ProblemsPage: Sendable {
    struct Cause: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case failed(TransferErrorCode)
            /// It goes on when the person has done something.
            case waits(WaitReason)
        }

        var kind: Kind
        /// What was said of one of its files.
        var message: String
        /// Of those that wait it is not known how many they are: 0.
        var files: Int64
        /// Where they are; the batch with most of them first.
        var batches: [Place]

        struct Place: Hashable, Sendable {
            var batch: BatchID
            var name: String
            var files: Int64
            /// Of its destination.
            var host = ""
        }

        /// The failure as the table of cures knows it.
        var error: TransferError? {
            if case .failed(let code) = kind { TransferError(code, message) } else { nil }
        }

        var happening: String {
            switch kind {
            case .failed: error?.happening ?? message
            case .waits(let reason): "waits " + reason.clause(server: host)
            }
        }

        /// What it means, whatever the server said.
        var meaning: String? {
            if case .failed(let code) = kind { code.cure.meaning } else { nil }
        }

        /// What to do, in the words of `martlet why`.
        func remedy(_ moves: Moves) -> String {
            switch kind {
            case .failed: error?.remedy(retry: moves.retry) ?? moves.retry
            case .waits(let reason): reason.remedy(moves)
            }
        }

        private var host: String { batches.first.map { $0.host.isEmpty ? "the server" : $0.host } ?? "the server" }
    }

    /// The cause with most files first.
    private(set) var causes: [Cause] = []
    /// Whether the engine has told.
    private(set) var isKnown = false
    var problem: SafeText?
    /// The line under the cursor; the cursor stays on its cause.
    private(set) var selected = 0

    var files: Int64 { causes.reduce(0) { $0 + $1.files } }
    var cause: Cause? { causes.indices.contains(selected) ? causes[selected] : nil }

    mutating func take(_ batches: [BatchSnapshot]) {
        let before = cause?.kind
        var found: [Cause.Kind: Cause] = [:]
        func note(_ kind: Cause.Kind, _ message: String, _ batch: BatchSnapshot, _ files: Int64) {
            let place = Cause.Place(batch: batch.id, name: batch.name, files: files, host: batch.destination.urlHost)
            found[kind, default: Cause(kind: kind, message: message, files: 0, batches: [])].add(place)
        }
        for batch in batches {
            for count in batch.causes where count.count > 0 {
                note(.failed(count.code), count.message, batch, count.count)
            }
            for reason in batch.waitReasons where reason.isProblem { note(.waits(reason), "", batch, 0) }
        }
        causes = found.values.sorted(by: Cause.comesBefore)
        isKnown = true
        selected = causes.firstIndex { $0.kind == before } ?? min(selected, max(0, causes.count - 1))
    }

    mutating func move(to line: Int) { selected = min(max(0, line), max(0, causes.count - 1)) }
}

extension ProblemsPage.Cause {
    /// What goes on as soon as the person has done something comes first, then the cause with most files.
    fileprivate static func comesBefore(_ first: Self, _ second: Self) -> Bool {
        if (first.files == 0) != (second.files == 0) { return first.files == 0 }
        return (second.files, first.name) < (first.files, second.name)
    }

    /// Its name in JSON.
    var name: String {
        switch kind {
        case .failed(let code): code.rawValue
        case .waits(let reason): reason.rawValue
        }
    }

    /// As what it is shown: what waits for space looks again by itself.
    var state: RowState {
        switch kind {
        case .failed: .failed
        case .waits(let reason): reason.needsPerson ? .auth : .retry
        }
    }

    /// What it is called where there is room for a few words.
    var title: String {
        switch kind {
        case .failed(let code): code.words
        case .waits(let reason): "waits for \(reason.words)"
        }
    }

    fileprivate mutating func add(_ place: Place) {
        files += place.files
        batches.append(place)
        batches.sort { ($1.files, $0.batch) < ($0.files, $1.batch) }
    }
}

extension Model {
    mutating func showProblems() {
        page = .problems(ProblemsPage())
        askForProblems()
    }

    private mutating func askForProblems() {
        let isAsked = outstanding.values.contains { if case .problems = $0.purpose { true } else { false } }
        if isConnected, !isAsked { ask(.problems) { .problems(number: $0) } }
    }

    /// The sums say that there are others now.
    mutating func refreshProblems(_ before: QueueTotals?) {
        guard case .problems = page, let totals else { return }
        if totals.problems != before?.problems || totals.problemCauses != before?.problemCauses
            || totals.needsPerson != before?.needsPerson || totals.needsSpace != before?.needsSpace
        {
            askForProblems()
        }
    }

    mutating func problemsCame(_ result: Result<[BatchSnapshot], RequestError>, _ number: Int) {
        guard outstanding.removeValue(forKey: number) != nil, case .problems(var problems) = page else { return }
        switch result {
        case .success(let batches): problems.take(batches)
        case .failure(let error): problems.problem = look.safe(error.message)
        }
        page = .problems(problems)
    }

    mutating func performInProblems(_ action: Action) {
        guard case .problems(var problems) = page else { return }
        let height = max(1, size.rows / 2)
        switch action {
        case .down: problems.move(to: problems.selected + 1)
        case .up: problems.move(to: problems.selected - 1)
        case .pageDown, .halfPageDown: problems.move(to: problems.selected + height)
        case .pageUp, .halfPageUp: problems.move(to: problems.selected - height)
        case .first: problems.move(to: 0)
        case .last: problems.move(to: .max)
        case .enter: return showFiles(of: problems.cause)
        case .retry: return retry(problems.cause)
        case .back:
            page = .transfers
            return
        case .help:
            openHelp()
            return
        default: break
        }
        page = .problems(problems)
    }

    /// To the first of its files in the tree.
    private mutating func showFiles(of cause: ProblemsPage.Cause?) {
        guard let place = cause?.batches.first else { return }
        let row = TreeItem.ID.row(.batch(place.batch))
        guard tree.index(of: row) != nil else {
            return complain("\(place.batch) is further down than the list reaches.")
        }
        page = .transfers
        tree.move(to: row)
        seekProblem(fromStart: true)
    }

    /// Tries all files that failed of it again, in whatever batch they are.
    private mutating func retry(_ cause: ProblemsPage.Cause?) {
        guard let cause else { return }
        let names = cause.batches.map { "\"\(look.safe($0.name))\"" }
        let name: SafeText = names.count == 1 ? SafeText(names[0]) : "\(names.count) batches"
        switch cause.kind {
        case .failed(let code):
            // The engine looks for all of them, and in one step.
            let selector = NodeSelector(filter: "@err err=\(code.rawValue)")
            ask(.failed(of: name)) { .act(.retry, .matching(selector), number: $0) }
        case .waits:
            // To look again costs nothing, whatever else it is that waits.
            let selector = NodeSelector(
                batch: cause.batches.count == 1 ? cause.batches[0].batch : nil, states: [.waiting])
            ask(.failed(of: name)) { .act(.retry, .matching(selector), number: $0) }
        }
    }
}
