import DisplayText
import MartletKit
import Terminal

/// A filter that is on: what the engine was asked for, and what it has found.
struct ShownFilter: Sendable {
    /// The last expression that could be read.
    var text: String
    /// `nil`: nothing was heard of it yet.
    var count: FilterCount?
    /// The tree without a filter, as it was left; `nil` while it is still shown.
    var unfiltered: Tree?
    /// All that match are marked, in sight or not.
    var marksAll = false
    /// The expression that the rows in sight are of.
    var shownText: String?
    /// The expression as the engine gets it: with what is marked by name.
    var sent: String { named ?? text }
    /// Set where it asks for what is marked.
    var named: String?
}

/// The line in which a filter is typed. Every change that can be read counts at once.
struct FilterLine: Sendable {
    var field: TextField
    /// The error in the text; the filter before it goes on.
    var fault: FilterFault?
    /// The filter when the line was opened, to which Esc returns.
    let before: String?
    /// The line among those that Up and Down offer; `nil`: what was typed.
    var offered: Int?

    init(_ before: String?) {
        self.before = before
        field = TextField(Array((before ?? "").utf8))
    }
}

extension FilterLine: Layer {
    static var level: LayerLevel { .filterLine }
    var wantsMouse: Bool? { false }

    func take(_ press: KeyPress, in model: inout Model) {
        var line = self
        switch (press.key, press.modifiers) {
        case (.escape, _), (.character("c"), .control):
            model.filterLine = nil
            return model.setFilter(line.before)
        case (.enter, _):
            model.filterLine = nil
            if let fault = line.fault {
                model.setFilter(line.before)
                return model.complain("The filter is wrong: \(model.appearance.safe(fault.message)).")
            }
            return
        case (.up, _): line.offer(1, model)
        case (.down, _): line.offer(-1, model)
        default:
            guard line.field.edit(press) else { return }
            line.offered = nil
        }
        line.read(in: &model)
        model.filterLine = line
    }

    func paste(_ bytes: [UInt8], in model: inout Model) -> Bool {
        var line = self
        line.field.insert(bytes.map { $0 == 0x0A || $0 == 0x09 ? 0x20 : $0 })
        line.read(in: &model)
        model.filterLine = line
        return true
    }

    /// Goes through saved filters, and before them the one that was cleared last.
    private mutating func offer(_ step: Int, _ model: Model) {
        let offers = model.filters.offers
        let next = (offered ?? -1) + step
        guard offers.indices.contains(next) else {
            if next < 0 {
                offered = nil
                field = TextField()
            }
            return
        }
        offered = next
        field = TextField(Array(offers[next].utf8))
    }

    private mutating func read(in model: inout Model) {
        fault = nil
        let text = (field.text ?? "").trimmed
        guard !text.isEmpty else { return model.setFilter(nil) }
        do throws(FilterFault) {
            _ = try TransferFilter(text)
            model.setFilter(text)
        } catch {
            fault = error
        }
    }

    func draw(in drawing: inout Drawing) { drawing.filterLine(self) }
}

extension Model {
    /// The line in which a filter is typed.
    var filterLine: FilterLine? {
        get { layers[FilterLine.self] }
        set { layers[FilterLine.self] = newValue }
    }

    mutating func openFilter() { filterLine = FilterLine(filters.shown?.text) }

    /// Shows only what matches; `nil`: everything again.
    mutating func setFilter(_ text: String?) {
        find = nil
        // Other rows were asked for, not the ones that stand still.
        if text != filters.shown?.text { list.frozen = nil }
        guard let text else {
            if let filter = filters.shown {
                filters.last = filter.text
                if filter.marksAll { self.tree.unmarkAll() }
                if let tree = filter.unfiltered { self.tree.giveBack(to: tree) }
            }
            filters.shown = nil
            return
        }
        let isNew = filters.shown?.text != text
        if filters.shown == nil { filters.shown = ShownFilter(text: text) } else { filters.shown?.text = text }
        // What is marked when it is set: marks that come or go later leave it alone.
        if isNew {
            let named = named(text)
            filters.shown?.named = named == text ? nil : named
        }
        let sent = filters.shown?.sent
        if filters.shown?.count?.text != sent, filters.shown?.marksAll == true {
            filters.shown?.marksAll = false
            tree.unmarkAll()
        }
        if filters.shown?.count?.text != sent { filters.shown?.count = nil }
    }

    /// Takes over sections when they are of the filter that is on.
    mutating func take(_ sections: [TreeSection], of count: FilterCount?) {
        guard count?.text == filters.shown?.sent else { return }
        guard let count, var filter = filters.shown else { return tree.take(sections) }
        filter.count = count
        defer { self.filters.shown = filter }
        // Nothing found so far says nothing: what was shown before stays until there is something to show.
        if count.matched == 0, !count.complete { return }
        if filter.shownText != count.text {
            filter.shownText = count.text
            if filter.unfiltered == nil {
                filter.unfiltered = tree
                tree = tree.filtered
            } else {
                tree.forgetRows()
            }
        }
        if !sections.isEmpty { tree.take(sections) }
    }

    // MARK: Going through what matches

    /// To the next file that matches (1), or the previous one (-1).
    mutating func moveToMatch(_ step: Int) {
        if find != nil { return findNext(step) }
        guard filters.shown?.unfiltered != nil else {
            let key = keys.keys(for: .filter, in: .transfers).first?.name ?? "filter"
            return say("Nothing is looked for: \(key) begins.")
        }
        var index = (tree.cursorIndex ?? 0) + step
        while tree.items.indices.contains(index) {
            if case .row(.task) = tree.items[index].id { return tree.move(to: index) }
            index += step
        }
        say(step > 0 ? "That was the last one in sight." : "That was the first one.")
    }

    /// Marks all files that match, in sight or not.
    mutating func markMatching() {
        guard let filter = filters.shown, filter.unfiltered != nil else {
            let key = keys.keys(for: .filter, in: .transfers).first?.name ?? "filter"
            return say("No filter is on: \(key) sets one, then all that match can be marked.")
        }
        let marked = Int64(tree.markTasks())
        let all = max(marked, filter.count?.matched ?? 0)
        guard all > 0 else { return say("Nothing matches: there is nothing to mark.") }
        self.filters.shown?.marksAll = all > marked
        say("Marked all \(Figures.amount(all, "file")) that match.")
    }
}

extension String {
    /// Without blanks at the ends.
    var trimmed: String {
        let head = drop(while: \.isWhitespace)
        guard let last = head.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(head[...last])
    }
}
