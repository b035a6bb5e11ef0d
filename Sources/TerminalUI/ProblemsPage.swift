import DisplayText
import MartletKit
import Terminal

/// What failed, one line a cause: a thousand files that failed for one reason are one problem.
struct ProblemsPage: Sendable {
    struct Cause: Hashable, Sendable {
        var code: TransferErrorCode
        /// What was said of one of its files.
        var message: String
        var files: Int64
        /// Where they are; the batch with most of them first.
        var batches: [Place]

        struct Place: Hashable, Sendable {
            var batch: BatchID
            var name: String
            var files: Int64
        }

        /// Messages are "what happened: what to do".
        var happening: String { message.firstRange(of: ": ").map { String(message[..<$0.lowerBound]) } ?? message }
        var advice: String { message.firstRange(of: ": ").map { String(message[$0.upperBound...]) } ?? "" }
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
        let before = cause?.code
        var found: [TransferErrorCode: Cause] = [:]
        for batch in batches {
            for count in batch.causes where count.count > 0 {
                let place = Cause.Place(batch: batch.id, name: batch.name, files: count.count)
                found[count.code, default: Cause(code: count.code, message: count.message, files: 0, batches: [])].add(
                    place)
            }
        }
        causes = found.values.sorted { ($1.files, $0.code.rawValue) < ($0.files, $1.code.rawValue) }
        isKnown = true
        selected = causes.firstIndex { $0.code == before } ?? min(selected, max(0, causes.count - 1))
    }

    mutating func move(to line: Int) { selected = min(max(0, line), max(0, causes.count - 1)) }
}

extension ProblemsPage.Cause {
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
        if totals.problems != before?.problems || totals.problemCauses != before?.problemCauses { askForProblems() }
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
            page = .help(scroll: 0)
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
        // The engine looks for all of them, and in one step.
        let selector = NodeSelector(filter: "@err err=\(cause.code.rawValue)")
        ask(.failed(of: name)) { .act(.retry, .matching(selector), number: $0) }
    }
}
