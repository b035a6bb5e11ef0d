import DisplayText
import MartletKit
import Terminal

/// The last step: what is sent where, how, and the same as a command.
extension Drawing {
    // MARK: The last look

    mutating func review(_ flow: AddFlow) {
        guard let review = flow.review else { return }
        if rows > 3 { steps(flow) }
        let facts = facts(flow, review)
        // What is sent where stays in sight while the fields scroll.
        let pinned = rows >= 12 ? facts : []
        var top = rows > 16 ? 2 : rows > 3 ? 1 : 0
        for line in pinned {
            grid.put(line, row: top, column: 1, end: width)
            top += 1
        }
        if rows > 16 { top += 1 }
        var height = max(1, rows - top - (rows > 3 ? 2 : rows > 1 ? 1 : 0))
        var lines = (rows >= 12 ? [] : facts.map { ReviewLine($0) }) + fieldLines(review, height: height)
        // Where not all of it has room the buttons keep theirs.
        if lines.count > height, height >= 4 {
            lines.removeLast(lines.last?.field == nil ? 0 : 1)
            if let last = lines.last, last.field == nil, last.text.width == 0 { lines.removeLast() }
            height -= 1
            buttonRow(review.form, top + height)
        }
        let selected = lines.lastIndex { $0.field == review.form.selected } ?? lines.count - 1
        // From the top as long as everything fits up to the selected line.
        let most = max(0, lines.count - height)
        let wanted = selected - height + 1 + (lines.count > selected + 1 ? 1 : 0)
        let first = review.form.isFresh && review.form.isOnButtons && height >= 4 ? 0 : max(0, min(wanted, most))
        for (y, line) in zip(top..<(top + height), lines.dropFirst(first)) {
            grid.put(line.text, row: y, column: line.isFlush ? 0 : 1, end: width)
            guard let field = line.field else { continue }
            guard field < review.form.fields.count else {
                buttonRow(review.form, y)
                continue
            }
            let column = 1 + Self.labelWidth
            formField(review.form, field, y, column: column, end: column + 46)
            if field == review.form.selected {
                grid.restyle(row: y, columns: 0..<column) { $0 = Style(.plain, selected: true) }
            }
        }
        stepNote(
            review.isQueueing ? ("Queueing ...", false) : review.note, help: appearance.safe(review.form.help))
        guard rows > 1 else { return }
        let hasUnsent = UnsentNames.are(in: flow.picker, remainder: review.remainder)
        let hints =
            [("F2", "start"), ("Tab", "next field"), ("Space", "choose")]
            + (hasUnsent && width >= 76 ? [("F3", "not sent")] : [])
            + [("Esc", "back"), ("^C", "close"), ("F1", "help")]
        hintLine(HintLine.text(hints, width: width), rows - 1)
    }

    private static let labelWidth = 14

    /// The facts about it that the user cannot choose here.
    private func facts(_ flow: AddFlow, _ review: ReviewStep) -> [StyledLine] {
        func fact(_ label: SafeText, _ value: SafeText, _ style: Style = .plain) -> StyledLine {
            let room = width - Self.labelWidth - 2
            return StyledLine(label.fitted(to: Self.labelWidth), .dim)
                + StyledLine(value.shortened(to: room, mark: appearance.glyphs.cutMark), style)
        }
        let totals = flow.picker.basket.totals
        switch review.work {
        case .upload(_, let destination):
            var lines = [
                fact("What", SafeText(totals.line(appearance.figures))),
                fact("Where to", shownPlace(destination, flow)),
            ]
            if let old = flow.replaced {
                lines.append(
                    fact(
                        "Instead of",
                        "\(old), cancelled then if nothing of it was sent; \(model.key(.undo)) takes that back"))
            }
            if !review.patterns.isEmpty { lines.append(fact("Of these", remainder(review), .info)) }
            let unsent = totals.unsentKinds
            if !unsent.isEmpty { lines.append(fact("Not sent", SafeText(unsent))) }
            if let missing = missing(flow.picker) { lines.append(fact("Not found", missing, .warn)) }
            if totals.unreadable > 0 { lines.append(fact("Cannot read", unreadable(flow.picker.basket), .warn)) }
            if let (text, style) = server(review, needs: totals) {
                // Each word of it counts, and what it says is wrong most.
                let parts = text.wrapped(to: max(8, width - Self.labelWidth - 2)).prefix(rows >= 20 ? 3 : 1)
                for (index, part) in parts.enumerated() { lines.append(fact(index == 0 ? "Server" : "", part, style)) }
            }
            return lines
        case .download(let urls, let folder):
            let first = appearance.safe(TransferURL.withoutPassword(urls.first ?? ""))
            let more = urls.count > 1 ? SafeText(" and \(urls.count - 1) more") : ""
            return [fact("What", first + more), fact("Into", tilde(folder))]
        }
    }

    /// A configured server with what it stands for.
    private func shownPlace(_ text: String, _ flow: AddFlow) -> SafeText {
        let shown = appearance.safe(TransferURL.withoutPassword(text))
        guard !text.contains("://"), let place = try? flow.book.place(text, "") else { return shown }
        return shown + "  =  " + appearance.safe(place.url.text)
    }

    /// The server's report on itself, and whether there is room.
    private func server(_ review: ReviewStep, needs totals: Basket.Totals) -> (SafeText, Style)? {
        guard review.tested != nil else { return nil }
        switch review.finding {
        case nil: return ("asking ...", .dim)
        case .failed(let why)?: return (appearance.safe(why), .warn)
        case .report(let report)?:
            let needed = review.remainder?.bytes ?? totals.bytes
            guard report.ok else {
                let why = report.refusal(login: "check user and password", at: review.tested ?? "")
                return (appearance.safe(why ?? "it cannot be used"), .error)
            }
            if let free = report.freeBytes, free < needed {
                return (
                    "\(appearance.figures.size(free)) free, needs \(appearance.figures.size(needed)): make room there",
                    .error
                )
            }
            return (appearance.safe(report.facts(appearance.figures.units)), .plain)
        case .changed?, .edited?, .restored?, .changedMeanwhile?: return nil
        }
    }

    /// A line of the part that scrolls.
    private struct ReviewLine {
        var text: StyledLine
        /// The index of the field that the line is for.
        var field: Int?
        /// From the window's very edge.
        var isFlush = false

        init(_ text: StyledLine, field: Int? = nil) { (self.text, self.field) = (text, field) }
    }

    /// The fields, the command and the buttons.
    private func fieldLines(_ review: ReviewStep, height: Int) -> [ReviewLine] {
        // Air above and below the command, where two lines of it, or all, have room beside that.
        let others = model.adding?.replaced == nil ? 2 : 3
        let lines = review.isTooLongForCommand ? 1 : min(2, command(review).lines(width: commandWidth, indent: 3).count)
        let hasAir = rows >= 20 && height - review.form.fields.count - 2 - others >= lines
        let gap = hasAir ? [ReviewLine(StyledLine())] : []
        let labels = review.form.fields.enumerated().map { index, field in
            ReviewLine(StyledLine(SafeText(field.label).fitted(to: Self.labelWidth), .dim), field: index)
        }
        // The mouse clicks here, so that terminals select text with Shift.
        let how: SafeText = model.wantsMouse && width >= 60 ? " (Shift and dragging selects it)" : ""
        let title = ReviewLine(StyledLine("The same as a command\(how):", .dim))
        let buttons = ReviewLine(StyledLine(), field: review.form.fields.count)
        let room = height - labels.count - 2 * gap.count - others
        return labels + gap + [title] + commandLines(review, room: room) + gap + [buttons]
    }

    private func command(_ review: ReviewStep) -> ShellCommand {
        ShellCommand(words: review.sketch.words, home: model.shellWords.home, characters: appearance.characterSet)
    }

    private var commandWidth: Int { max(12, width - 4) }

    /// As it can be copied from here into a shell. Where it has no room, dots stand for files: how and where to must be seen.
    private func commandLines(_ review: ReviewStep, room: Int) -> [ReviewLine] {
        guard !review.isTooLongForCommand else {
            let why: SafeText =
                if case .upload = review.work {
                    "more files than a command line takes: choose the folder they are in"
                } else {
                    "more URLs than a command line takes"
                }
            return [ReviewLine(StyledLine("  " + why, .dim))]
        }
        let command = command(review)
        let short = command.lines(width: commandWidth, indent: 3, atMost: max(1, room))
        if short.count > max(1, room), review.form.isFresh {
            // Until somebody goes there to read it all.
            return [
                ReviewLine(
                    StyledLine("  " + bytes(command.line).shortened(to: width - 4, mark: appearance.glyphs.cutMark)))
            ]
        }
        let lines = short.map { line in
            var shown = ReviewLine(StyledLine((line.isInsideWord ? "" : "  ") + bytes(line.bytes)))
            shown.isFlush = line.isInsideWord
            return shown
        }
        guard let old = model.adding?.replaced else { return lines }
        return lines + [ReviewLine(StyledLine("  martlet cancel \(old)"))]
    }

    /// The number of files that the patterns leave, and of those that they keep here.
    private func remainder(_ review: ReviewStep) -> SafeText {
        guard let count = review.remainder else { return "counting what the patterns leave ..." }
        let more = count.isComplete ? "" : ", counting"
        guard count.files > 0 || !count.isComplete else { return "none: the patterns leave no file" }
        let left = SafeText("\(Figures.amount(count.files, "file")), \(appearance.figures.size(count.bytes))\(more)")
        var kept: [String] = []
        if count.keptFiles > 0 || count.keptFolders == 0 { kept.append(Figures.amount(count.keptFiles, "file")) }
        if count.keptFolders > 0 { kept.append(Figures.amount(count.keptFolders, "folder")) }
        let sum = left + "; left out: \(SafeText(kept.joined(separator: ", ")))"
        // An example, when there is room for a name of it.
        let room = width - Self.labelWidth - 4 - sum.width
        guard let name = count.firstKept.first, room >= 12 else { return sum }
        return sum + ", " + bytes(name).shortened(to: room, mark: appearance.glyphs.cutMark)
    }

    private func missing(_ picker: Picker) -> SafeText? {
        guard let why = picker.unusable.first?.problem else { return nil }
        let more = picker.unusable.count - 1
        return appearance.safe(why) + (more > 0 ? " (and \(Figures.count(Int64(more))) more)" : "")
    }

    private func unreadable(_ basket: Basket) -> SafeText {
        let items = basket.first(200).filter { $0.count.unreadable > 0 }
        let name = items.first.flatMap { item in
            item.count.firstUnreadable.first.map { bytes(ShellWords.last(item.path) + [UInt8(ascii: "/")] + $0) }
        }
        let count = SafeText(Figures.amount(basket.totals.unreadable, "name"))
        return name.map { count + ": " + $0 + (basket.totals.unreadable > 1 ? ", ..." : "") } ?? count
    }
}
