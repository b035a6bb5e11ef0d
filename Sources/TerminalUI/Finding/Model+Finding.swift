import DisplayText
import MartletKit

/// A question to the engine about names.
struct NameQuestion: Hashable, Sendable {
    /// Part of a name; empty: the way to `after`.
    var text: String
    var after: RowID?
    /// True when `after` counts, too.
    var here = false
    var backwards = false
    var order: TreeOrder?
    var flat = false
    var filter: String?
}

/// The search in the whole queue for what the list does not have: the newest question counts, and the tree is opened on
/// the way to its answer.
extension Model {
    /// Counts what was typed, and finds where the first of it is.
    mutating func askForNames() {
        guard let find, let text = find.field.text, !text.isEmpty, isConnected, find.asked == nil else { return }
        if find.counted?.text != text { self.find?.counted = nil }
        put(question(text, after: rowID(of: find.before), here: true))
    }

    /// The next match of the whole queue, or the previous one; pressed again before it came, the one behind that.
    mutating func askForStep(_ step: Int) {
        guard let text = find?.field.text, !text.isEmpty else { return }
        if case .sought(let steps, let from) = tree.going {
            guard steps + step != 0 else { return tree.going.endSearch() }
            tree.going = .sought(steps: steps + step, from: from)
            return
        }
        let from = tree.going.row
        tree.going = .sought(steps: step, from: from)
        put(question(text, after: from ?? tree.cursorRow?.id ?? rowAbove, backwards: step < 0))
    }

    private mutating func put(_ question: NameQuestion) {
        let number = ask(.find) { .find(question, number: $0) }
        find?.asked = number
    }

    private func question(
        _ text: String, after row: RowID?, here: Bool = false, backwards: Bool = false
    ) -> NameQuestion {
        NameQuestion(
            text: text, after: row, here: here, backwards: backwards,
            order: tree.order == TreeOrder() ? nil : tree.order, flat: tree.isFlat, filter: filters.shown?.sent)
    }

    private func rowID(of item: TreeItem.ID?) -> RowID? { if case .row(let id) = item { id } else { nil } }

    /// The row above a line that stands for rows which were not asked for.
    private var rowAbove: RowID? {
        guard let index = tree.cursorIndex, index > 0 else { return nil }
        return tree.items[index - 1].row?.id
    }

    mutating func found(_ result: Result<FoundRow, RequestError>, _ number: Int) {
        guard let request = requests.outstanding.removeValue(forKey: number),
            case .find(let question, _) = request.request
        else {
            return
        }
        if question.text.isEmpty { return wayCame(result, question.after) }
        guard let find, find.asked == number else { return }
        self.find?.asked = nil
        guard case .success(let row) = result else {
            tree.going.endSearch()
            if case .failure(let error) = result { complain(advised(error)) }
            return
        }
        guard question.text == find.field.text else { return askForNames() }
        self.find?.counted = TreeFind.Counted(text: question.text, matches: row.matches, isComplete: row.complete)
        if !row.complete { return put(question) }
        guard !question.here else {
            // What is in the list was gone to while it was typed.
            if find.isTyping, tree.lines(of: find).isEmpty { tree.reveal(row.way) }
            return
        }
        // A key that moved the cursor meanwhile has ended the wait.
        guard case .sought(let steps, _) = tree.going else { return }
        tree.going.endSearch()
        guard !row.way.isEmpty else {
            return say("\"\(appearance.safe(question.text))\" is nowhere in the queue.")
        }
        tree.reveal(row.way)
        if row.wrapped {
            say(question.backwards ? "Round the beginning: the last one." : "Round the end: the first one.")
        }
        let left = steps - steps.signum()
        if left != 0 { askForStep(left) }
    }

    // MARK: The cursor follows its file

    /// `F` once: where the file goes, the cursor goes, into the row in which what is done is folded.
    mutating func toggleFollowing() {
        if list.followed != nil {
            list.followed = nil
            return say("The cursor stays where it is.")
        }
        guard let row = tree.cursorRow, case .task = row.id else {
            return say("The cursor follows a file: go to one first.")
        }
        list.followed = row.id
        tree.going = .nowhere
        say("The cursor follows \"\(appearance.safe(row.name))\" until it is moved.")
    }

    /// After every change of the rows.
    mutating func keepFollowing() {
        guard let followed = list.followed, isConnected else { return }
        if let index = tree.index(of: .row(followed)) {
            if tree.cursor != .row(followed) { tree.move(to: index) }
            return
        }
        let isAsked = requests.outstanding.values.contains {
            if case .find(let question, _) = $0.request { question.text.isEmpty } else { false }
        }
        guard !isAsked, tree.going != .to(followed) else { return }
        let question = question("", after: followed)
        ask(.find) { .find(question, number: $0) }
    }

    private mutating func wayCame(_ result: Result<FoundRow, RequestError>, _ row: RowID?) {
        guard let followed = list.followed, followed == row, case .success(let found) = result else { return }
        guard !found.way.isEmpty else {
            self.list.followed = nil
            return say("The file that the cursor followed is gone.")
        }
        tree.reveal(found.way)
    }
}

extension Action {
    /// True when it takes the cursor elsewhere, so that it follows nothing any more.
    var movesCursor: Bool {
        switch self {
        case .down, .up, .halfPageDown, .halfPageUp, .pageDown, .pageUp, .first, .last, .nextBatch, .previousBatch,
            .open, .close, .nextProblem, .nextMatch, .previousMatch, .mark, .find:
            true
        default: false
        }
    }
}
