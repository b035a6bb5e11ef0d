import DisplayText
import MartletKit
import Terminal

/// The page of problems: the causes, and below them the one under the cursor in words.
extension Drawing {
    mutating func problems(_ page: ProblemsPage) {
        let causes = Figures.amount(Int64(page.causes.count), "cause")
        let sum = page.isKnown ? "\(Figures.amount(page.files, "file")) in \(causes)" : ""
        title("Problems", "", right: SafeText(page.causes.isEmpty ? "" : sum))
        let first = rows >= 12 ? 2 : 1
        let hasServer = page.cause?.hasServer ?? true
        let hints = Self.hintsOfProblems.filter { hasServer || $0 != .server }
        defer { footer(page.causes.isEmpty ? [.back, .help] : hints, in: .problems) }
        cursor = Cursor(row: min(1, rows - 1), column: min(2, width - 1))
        let end = max(1, rows - 1 - (rows >= 16 ? 1 : 0))
        guard !page.causes.isEmpty else {
            let text = page.problem ?? (page.isKnown ? "Nothing has failed, and nothing needs you." : unanswered)
            for (row, line) in zip(1..<end, text.wrapped(to: width - 3)) { grid.put(line, row: row, column: 2) }
            return
        }
        // In a low window the words go, not the causes.
        let columns = ProblemColumns(width, needs: needs(of: page.causes))
        let text = page.cause.map { problemWords($0, width: width, saysLast: columns.last == nil) } ?? []
        let room = end - first
        let height = min(page.causes.count, max(min(3, room), room - text.count - 3))
        let top = max(0, min(page.selected - height + 1, page.causes.count - height))
        if first > 1 { titles(columns) }
        for (row, index) in zip(first..<(first + height), top..<page.causes.count) {
            line(page.causes[index], row, columns, isSelected: index == page.selected && !page.isGone)
        }
        if rows >= 16 {
            let hints = HintLine.text([.again, .copy, .plain, .write], in: .problems, model.keys, width: width)
            grid.put(hints, row: rows - 2, column: 0, style: .dim)
        }
        let start = first + height
        guard end - start >= 4 else { return }
        heading(SafeText(page.cause?.title ?? ""), row: start + 1, columns: 0..<width)
        // The advice comes first when not all of it fits.
        let isWhole = text.count <= end - 1 - (start + 2)
        let lines = isWhole ? text : page.cause.map { problemWords($0, width: width, beginsWithAdvice: true) } ?? []
        for (row, line) in zip((start + 2)..<(end - 1), lines) { grid.put(line, row: row, column: 1) }
    }

    private static let hintsOfProblems: [Action] = [.back, .retry, .enter, .server, .leaveOut, .help]

    /// The width of each column with nothing cut.
    private func needs(of causes: [ProblemsPage.Cause]) -> ProblemColumns.Needs {
        func widest(_ text: (ProblemsPage.Cause) -> SafeText) -> Int { causes.map { text($0).width }.max() ?? 0 }
        return ProblemColumns.Needs(
            cause: widest { appearance.safe($0.summary) }, files: widest { SafeText(Figures.count($0.files)) },
            batch: widest { appearance.safe($0.names) }, fix: widest(fix))
    }

    private mutating func titles(_ columns: ProblemColumns) {
        let titles: [(String, Range<Int>?, Alignment)] = [
            ("Cause", columns.cause, .left), ("Files", columns.files, .right), ("Batch", columns.batch, .left),
            ("Last", columns.last, .left), ("Fix", columns.fix, .left),
        ]
        for case (let text, let cells?, let alignment) in titles {
            grid.put(
                SafeText(text).fitted(to: cells.count, alignment), row: 1, column: cells.lowerBound, style: .title)
        }
    }

    private mutating func line(
        _ cause: ProblemsPage.Cause, _ row: Int, _ columns: ProblemColumns, isSelected: Bool
    ) {
        let state = cause.state
        grid.put(SafeText([Glyph(state.sign(appearance.glyphs))]), row: row, column: 1, style: state.style)
        grid.put(
            appearance.safe(cause.summary).cut(to: columns.cause.count, appearance.glyphs), row: row,
            column: columns.cause.lowerBound)
        let files = SafeText(Figures.count(cause.files))
        grid.put(files.fitted(to: columns.files.count, .right), row: row, column: columns.files.lowerBound)
        if let cells = columns.batch {
            grid.put(
                appearance.safe(cause.names).shortened(to: cells.count, mark: appearance.glyphs.cutMark), row: row,
                column: cells.lowerBound)
        }
        if let cells = columns.last, !cause.isUnserved, let lastAt = cause.lastAt {
            grid.put(last(lastAt), row: row, column: cells.lowerBound, end: cells.upperBound)
        }
        if let cells = columns.fix {
            grid.put(fix(cause), row: row, column: cells.lowerBound, end: cells.upperBound)
        }
        guard isSelected else { return }
        grid.restyle(row: row) { $0.isSelected = true }
        cursor = Cursor(row: row, column: min(3, width - 1))
    }

    /// `12:40`, and of what is older than a day the days.
    private func last(_ time: Timestamp) -> SafeText {
        let days = model.engineNow.wall.since(time).components.seconds / 86400
        return SafeText(days > 0 ? "\(days) d" : String(appearance.timeOfDay(time).prefix(5)))
    }

    /// All causes as they stand below the list, for reading elsewhere.
    static func report(of page: ProblemsPage, _ model: Model) -> String {
        let drawing = Drawing(model: model, layout: model.layout, grid: Grid(model.size))
        let causes = Figures.amount(Int64(page.causes.count), "cause")
        let sum =
            "Problems at \(model.appearance.date(model.now.wall)): \(Figures.amount(page.files, "file")) in \(causes)"
        let parts = page.causes.map { cause in
            let lines = drawing.problemWords(cause, width: 100).map { $0.pieces.map(\.text.string).joined() }
            let files =
                cause.lastAt.map { ", \(cause.isUnserved ? "since" : "last") \(model.appearance.date($0))" } ?? ""
            return (["\(cause.title): \(Figures.amount(cause.files, "file"))\(files)"] + lines).joined(separator: "\n")
        }
        return ([sum] + (parts.isEmpty ? ["Nothing has failed, and nothing needs you."] : parts))
            .joined(separator: "\n\n") + "\n"
    }

    /// `12:41:05, by itself`; of what waits for something else nothing.
    private func nextTry(_ cause: ProblemsPage.Cause) -> SafeText {
        guard cause.isUnserved else { return "" }
        guard let time = cause.retryAt, time > model.engineNow.wall else { return "now, by itself" }
        return SafeText("\(appearance.timeOfDay(time)), by itself")
    }

    /// Batches of another machine are not sent again from here.
    private func fixes(_ cause: ProblemsPage.Cause) -> [Action] {
        cause.fixes.filter { $0 != .again || model.machine == nil }
    }

    /// The fixes of one press, as the list says them: `r retry  d server`.
    private func fix(_ cause: ProblemsPage.Cause) -> SafeText {
        let words = fixes(cause).compactMap { action -> String? in
            let word =
                switch action {
                case .again: "address"
                case .retry where cause.isExisting: "overwrite, skip"
                default: action.hint(in: .problems) ?? ""
                }
            return model.keys.keys(for: action, in: .problems).first.map { "\($0.name) \(word)" }
        }
        return SafeText(words.joined(separator: "  "))
    }

    /// A slip in the address is what no waiting mends; what lets somebody in can be typed here.
    private func remedy(of cause: ProblemsPage.Cause) -> SafeText {
        let rest = model.advised(cause.remedy)
        if cause.wantsLogin, cause.hasServer {
            let login = cause.batches.first.flatMap { TransferScheme(of: $0.url) }?.facts.login
            let what: SafeText = login?.signsRequests == true ? "new keys" : "another login"
            return "\(model.key(.server, in: .problems)) takes \(what) from you here; or in a shell, \(rest)"
        }
        if cause.isExisting {
            let retry = model.key(.retry, in: .problems)
            return "\(retry) overwrites or skips, or tries again when you have moved what is there"
        }
        guard fixes(cause).contains(.again) else { return rest }
        return "\(model.key(.again, in: .problems)) corrects the address, if it is wrong; else \(rest)"
    }

    /// - Parameters:
    ///   - saysLast: when its last file came to it stands nowhere else.
    ///   - beginsWithAdvice: what to do comes before what happened.
    func problemWords(
        _ cause: ProblemsPage.Cause, width: Int, saysLast: Bool = false, beginsWithAdvice: Bool = false
    ) -> [StyledLine] {
        let places = cause.batches.prefix(4).map { place in
            let name = "\"\(appearance.safe(place.name).shortened(to: 40, mark: appearance.glyphs.cutMark).string)\""
            return "\(name) (\(place.batch))" + (place.files > 0 ? " " + Figures.amount(place.files, "file") : "")
        }
        let more = cause.batches.count > 4 ? " and \(cause.batches.count - 4) more batches" : ""
        var fields: [(SafeText, SafeText)] = [
            ("What happened", appearance.safe(cause.happening)),
            ("Server said", cause.said.map { DetailsText.quoted($0, appearance) } ?? ""),
            ("What it means", appearance.safe(cause.meaning ?? "Nothing of it is sent until that is done.")),
            ("What to do", remedy(of: cause)), ("Next try", nextTry(cause)),
            ("Where", SafeText(places.joined(separator: ", ") + more)),
            ("Since", cause.isUnserved ? cause.lastAt.map { model.moment($0) } ?? "" : ""),
            ("Last", saysLast && !cause.isUnserved ? cause.lastAt.map { model.moment($0) } ?? "" : ""),
            ("Not lost", SafeText(cause.notLost)),
            ("Detail", appearance.safe(cause.detail ?? "")),
        ]
        if beginsWithAdvice { fields.insert(fields.remove(at: 3), at: 0) }
        return fields.filter { $0.1.width > 0 }.flatMap { label, value in
            value.wrapped(to: max(8, width - DetailsText.indent - 2)).enumerated().map { index, part in
                StyledLine((index == 0 ? label : "").fitted(to: DetailsText.indent), .dim) + StyledLine(part)
            }
        }
    }
}
