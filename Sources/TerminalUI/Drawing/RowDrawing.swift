import DisplayText
import MartletKit
import Terminal

/// One line of the tree: sign, name, figures, bar, state.
struct RowDrawing {
    let model: Model
    let columns: Columns
    /// Batches of several sessions stand in the list, so each says whose it is.
    var namesSessions = false
    /// Names that several batches have: their number tells which it is.
    var twinNames: Set<String> = []

    private var appearance: Appearance { model.appearance }

    /// The column of the name's first letter.
    func nameColumn(_ item: TreeItem) -> Int {
        let cells = columns[.name] ?? 0..<1
        return min(cells.upperBound - 1, cells.lowerBound + indent(item) + (item.canOpen || item.row != nil ? 2 : 0))
    }

    /// Deep folders must not push the names out of the window.
    private func indent(_ item: TreeItem) -> Int {
        let room = columns[.name]?.count ?? 1
        return min(2 * item.depth, max(0, room - 14))
    }

    func draw(_ item: TreeItem, _ y: Int, _ grid: inout Grid) {
        name(item, y, &grid)
        guard let row = item.row else { return }
        let state = model.state(of: row)
        sign(row, state, isMarked: model.tree.isMarked(item), y, &grid)
        for (column, cells) in columns.places {
            guard let (text, alignment, style) = cell(column, cells.count, row, state) else { continue }
            grid.put(
                text.fitted(to: cells.count, alignment), row: y, column: cells.lowerBound, style: style,
                end: cells.upperBound)
        }
        if let pending = model.changes.pending[row.id] { waiting(pending, y, &grid) }
    }

    /// Draws a change that the row does not show yet in the state's place, over the cells beside it.
    private func waiting(_ pending: PendingDeed, _ y: Int, _ grid: inout Grid) {
        guard let cells = columns[.state] ?? columns[.speedOrState] else { return }
        // What it would take is no longer so.
        if let time = columns[.timeLeft] { grid.fill(row: y, columns: time, style: .plain) }
        let start = max(0, cells.upperBound - max(cells.count, pending.word.width))
        grid.fill(row: y, columns: start..<cells.upperBound, style: .dim)
        grid.put(pending.word, row: y, column: start, style: .dim)
    }

    private func sign(_ row: NodeRow, _ state: RowState, isMarked: Bool, _ y: Int, _ grid: inout Grid) {
        guard let cells = columns[.sign] else { return }
        if isMarked { grid.put("*", row: y, column: cells.lowerBound, style: .marked) }
        let hasTrouble = row.hasTroubleBelow
        let glyph: SafeText = hasTrouble ? "!" : SafeText([Glyph(state.sign(appearance.glyphs))])
        grid.put(glyph, row: y, column: cells.lowerBound + 1, style: hasTrouble ? .error : state.style)
    }

    private func name(_ item: TreeItem, _ y: Int, _ grid: inout Grid) {
        guard let cells = columns[.name] else { return }
        let isFound = item.row.map { model.find?.matches($0) == true } ?? false
        let style: Style = model.tree.isMarked(item) || isFound || isMatch(item) ? .marked : .plain
        var x = cells.lowerBound + indent(item)
        if item.canOpen, !item.isGroup || item.isOpen {
            let fold = item.isOpen ? appearance.glyphs.open : appearance.glyphs.closed
            grid.put(SafeText([Glyph(fold)]), row: y, column: x, style: style, end: cells.upperBound)
        }
        if item.row != nil { x += 2 }
        let number = number(item)
        let room = max(0, cells.upperBound - x - number.width)
        let name = shown(item, room)
        var end = grid.put(name, row: y, column: x, style: item.row == nil ? .dim : style, end: cells.upperBound)
        end = grid.put(number, row: y, column: end, style: .dim, end: cells.upperBound)
        guard let row = item.row else { return }
        note(row, room: cells.upperBound - end).map { _ = grid.put($0, row: y, column: end, style: .dim) }
    }

    /// ` b12`, of a batch that is not the only one of its name.
    private func number(_ item: TreeItem) -> SafeText {
        guard let row = item.row, case .batch(let batch) = row.id, twinNames.contains(row.name) else { return "" }
        return SafeText(" \(batch)")
    }

    /// Returns true for the files of a filter, which were looked for; the other rows say where they are.
    private func isMatch(_ item: TreeItem) -> Bool {
        guard model.filters.shown?.unfiltered != nil, case .row(.task) = item.id else { return false }
        return true
    }

    /// Behind the name, when there is room: where a batch goes, how many files a folder has.
    private func note(_ row: NodeRow, room: Int) -> SafeText? {
        switch row.id {
        case .batch:
            let owner = owner(row, room: room)
            let cancelled = inBrackets(nil, row.cancelledPart, room: room - owner.width)
            let way = way(row, room: room - owner.width - cancelled.width)
            return owner + (way ?? "") + cancelled
        case .folder:
            let files = columns[.files] == nil ? Figures.amount(row.counts.total, "file") : nil
            return inBrackets(files, row.cancelledPart, room: room)
        case .task where model.tree.isFlat:
            // Where it is: of all files in one list the names alone do not tell.
            guard room >= 12, let folder = row.folder else { return nil }
            return "  " + appearance.safe(folder).shortened(to: room - 3, mark: appearance.glyphs.cutMark)
        case .task, .group: return nil
        }
    }

    /// `  (12 files, 2 cancelled)`; empty where it does not fit.
    private func inBrackets(_ parts: String?..., room: Int) -> SafeText {
        let known = parts.compactMap(\.self)
        let text = SafeText("  (\(known.joined(separator: ", ")))")
        return known.isEmpty || text.width > room ? "" : text
    }

    /// `  (photos)`: whose batch it is, where that is not clear; empty where it does not fit.
    private func owner(_ row: NodeRow, room: Int) -> SafeText {
        guard namesSessions, columns[.session] == nil, let session = row.session else { return "" }
        let owner = "  (" + appearance.safe(session.rawValue).shortened(to: 20, mark: appearance.glyphs.cutMark) + ")"
        return owner.width <= room ? owner : ""
    }

    /// ` -> nas:/backup`
    private func way(_ row: NodeRow, room: Int) -> SafeText? {
        var path = appearance.safe(model.named(place: row.path) ?? row.path)
        // What it is reached by matters less than where it is.
        if path.width + 4 > room, let scheme = path.string.firstRange(of: "://") {
            path = appearance.safe(String(path.string[scheme.upperBound...]))
        }
        // Of less than this nobody could tell where it goes.
        guard path.width > 0, room >= min(16, path.width + 4) else { return nil }
        return " -> " + path.shortened(to: room - 4, mark: appearance.glyphs.cutMark)
    }

    /// The ending of a name tells more than its middle; of a sentence the beginning does.
    private func shown(_ item: TreeItem, _ room: Int) -> SafeText {
        let label = label(item)
        guard item.isGroup, label.width > room, room > 3, let row = item.row else {
            return label.shortened(to: room, mark: appearance.glyphs.cutMark)
        }
        // Of the same error it is enough to know how many more there are.
        let short: SafeText = "... \(Figures.count(row.counts.total)) more"
        if above(item)?.error?.code == row.error?.code, row.error != nil, short.width <= room { return short }
        return label.beginning(of: room - 1) + SafeText([Glyph(appearance.glyphs.cutMark)])
    }

    private func label(_ item: TreeItem) -> SafeText {
        guard let row = item.row else { return "... \(Figures.count(item.hidden)) more rows" }
        switch row.id {
        case .batch, .task: return appearance.safe(row.name)
        case .folder: return appearance.safe(row.name) + "/"
        case .group: return "... " + RowLabel.group(row, after: above(item), appearance)
        }
    }

    /// The file above a group, when it has the same fate.
    private func above(_ item: TreeItem) -> NodeRow? {
        guard let index = model.tree.index(of: item.id), index > 0, let row = item.row else { return nil }
        let above = model.tree.items[index - 1]
        guard above.depth == item.depth, let other = above.row, case .task = other.id else { return nil }
        return RowState(other) == RowState(row) ? other : nil
    }

    // MARK: Figures

    private func cell(
        _ column: Columns.Column, _ width: Int, _ row: NodeRow, _ state: RowState
    ) -> (SafeText, Alignment, Style)? {
        switch column {
        case .sign, .name: nil
        // Nothing of it is on its way, and nothing has arrived.
        case .bar where state == .leftOut, .percent where state == .leftOut: nil
        case .files: files(row).map { (SafeText($0), .right, .plain) }
        case .size: (SafeText(RowFigures(row, appearance).size), .right, .plain)
        case .bar: (RowFigures(row, appearance).bar(width: width), .left, barStyle(state))
        case .percent: (SafeText("\(RowFigures(row, appearance).percent)%"), .right, .plain)
        case .speed: speed(row, state, isWide: columns.isWide).map { (SafeText($0), .right, .plain) }
        case .timeLeft: timeLeft(row, state).map { (SafeText($0), .right, .plain) }
        case .state: (SafeText(columns.isWide ? state.longWord : state.word), .left, state.style)
        case .destination: destination(row, width).map { ($0, .left, .plain) }
        case .started: row.startedAt.map { (SafeText(model.shortMoment($0)), .left, .plain) }
        case .tries: row.attempts.map { (SafeText("\($0)"), .right, .plain) }
        case .checksum: row.comparedBy.map { (appearance.safe($0), .left, .plain) }
        case .priority: row.priority == .normal ? nil : (SafeText(row.priority.rawValue), .left, .plain)
        case .limit: row.limit.map { (SafeText(appearance.figures.size($0)), .right, .plain) }
        case .session:
            row.session.map {
                (appearance.safe($0.rawValue).shortened(to: width, mark: appearance.glyphs.cutMark), .left, .plain)
            }
        case .sparkline where state != .running: nil
        case .sparkline: (model.observed.trails.picture(of: row.id, appearance.glyphs), .left, .info)
        case .speedOrState:
            speed(row, state, isWide: false).map { (SafeText($0), .right, .plain) }
                ?? (SafeText(state.word), .right, state.style)
        }
    }

    /// The place alone; a name in it is in the row already.
    private func destination(_ row: NodeRow, _ width: Int) -> SafeText? {
        guard !row.path.isEmpty else { return nil }
        var place = (row.ends?.to ?? row.path)[...]
        if let named = model.named(place: String(place), isEncoded: row.canHold) {
            return appearance.safe(named).shortened(to: width, mark: appearance.glyphs.cutMark)
        }
        if let scheme = place.firstRange(of: "://") { place = place[scheme.upperBound...] }
        return appearance.safe(String(place)).shortened(to: width, mark: appearance.glyphs.cutMark)
    }

    private func files(_ row: NodeRow) -> String? {
        switch row.id {
        case .task: nil
        case .group: Figures.shortCount(row.counts.total)
        case .batch, .folder: Figures.files(row.counts.completed, of: row.counts.total)
        }
    }

    private func barStyle(_ state: RowState) -> Style {
        switch state {
        case .done: .ok
        case .running, .stalled, .checking: .plain
        default: .dim
        }
    }

    /// Only of what runs: the average of a try that has failed falls slowly, but its bytes will be sent again.
    private func speed(_ row: NodeRow, _ state: RowState, isWide: Bool) -> String? {
        guard row.bytesPerSecond > 0, state == .running else { return nil }
        return isWide ? appearance.figures.speed(row.bytesPerSecond) : appearance.figures.size(row.bytesPerSecond)
    }

    private func timeLeft(_ row: NodeRow, _ state: RowState) -> String? {
        // The clock's time: it stands still, and so does the row.
        if state == .paused, let end = row.pausedUntil { return model.shortMoment(end) }
        if state == .retry {
            let now = model.engineNow
            return row.retryAt.flatMap { $0 > now.wall ? Figures.timeLeft(now.seconds(until: $0)) : nil }
        }
        guard state == .running, row.bytesPerSecond > 0 else { return nil }
        return Figures.timeLeft(row.secondsLeft)
    }
}

extension NodeRow {
    /// The number of cancelled files of a row that is over and not cancelled as a whole.
    fileprivate var cancelledPart: String? {
        guard state == .completed, counts.cancelled > 0 else { return nil }
        return "\(Figures.count(counts.cancelled)) cancelled"
    }

    /// The folder of a file's source.
    fileprivate var folder: String? {
        let source = ends?.from ?? path
        return source.lastIndex(of: "/").map { String(source[..<$0]) }
    }
}

/// The figures of a row's progress.
struct RowFigures {
    let row: NodeRow
    let appearance: Appearance

    init(_ row: NodeRow, _ appearance: Appearance) {
        self.row = row
        self.appearance = appearance
    }

    /// A question mark while it is unknown.
    var size: String { row.sizeKnown ? appearance.figures.size(row.bytes.total) : "?" }

    var percent: Int { row.share.percent }

    func bar(width: Int) -> SafeText {
        Bar.text(row.share, width: width, appearance.glyphs)
    }
}
