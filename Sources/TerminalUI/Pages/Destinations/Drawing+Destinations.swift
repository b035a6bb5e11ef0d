import Configuration
import DisplayText
import MartletKit
import Terminal

/// The page of configured servers.
extension Drawing {
    mutating func destinations(_ page: DestinationsPage) {
        if let form = page.form { return serverForm(page, form.purpose, form.fields) }
        title("Destinations", "", right: SafeText("\(page.destinations.count) configured"))
        let columns = destinationColumns
        if rows > 4 {
            for (text, cells) in zip(["Name", "Kind", "Address", "Login", "Used", "State"], columns)
            where !cells.isEmpty {
                grid.put(SafeText(text).fitted(to: cells.count), row: 1, column: cells.lowerBound, style: .title)
            }
        }
        let first = rows > 4 ? 2 : 1
        let below = rows >= 24 ? 9 : rows >= 16 ? 7 : rows > 4 ? 2 : 1
        let list = first..<max(first + 1, rows - below)
        cursor = Cursor(row: min(list.lowerBound, rows - 1), column: min(1, width - 1))
        for (y, index) in zip(list, page.top..<max(page.top, page.destinations.count)) {
            draw(page.destinations[index], page, y, columns)
            guard index == page.selected else { continue }
            grid.restyle(row: y) { $0.isSelected = true }
            cursor = Cursor(row: y, column: min(width - 1, columns[0].lowerBound))
        }
        if page.destinations.isEmpty {
            let key = model.keys.keys(for: .new, in: .destinations).first?.name ?? ""
            grid.put("No server is configured yet: \(SafeText(key)) describes one.", row: list.lowerBound, column: 3)
        }
        if rows >= 16, let current = page.current { facts(current, page, from: rows - below) }
        let advice: SafeText =
            page.problems.first.map { appearance.safe($0.description(file: "destinations.conf")) }
            ?? "Use a destination as NAME:PATH, here and in commands."
        let problem = page.problems.isEmpty ? nil : (text: advice, isError: true)
        destinationNote(page.note ?? problem, advice)
        // Without a server there is nothing to be sent to, asked or removed.
        let some: [Action] = page.destinations.isEmpty ? [.new] : [.enter, .test, .signIn, .add, .new, .remove]
        footer([.back] + some + [.help], in: .destinations, keepsMessage: false)
    }

    private mutating func destinationNote(_ note: (text: SafeText, isError: Bool)?, _ advice: SafeText) {
        guard rows > 4 else { return }
        let style: Style = note.map { $0.isError ? .error : .plain } ?? .dim
        let lines = (note?.text ?? advice).wrapped(to: width - 2, lines: rows > 10 ? 3 : 1, appearance.glyphs)
        for (row, line) in zip((rows - 1 - lines.count)..., lines) {
            grid.fill(row: row, style: .plain)
            grid.put(line, row: row, column: 1, style: style)
        }
    }

    /// Name, kind, address, login, used, state.
    private var destinationColumns: [Range<Int>] {
        let name = 1..<min(width, 3 + max(8, width / 6))
        let state = width >= 50 ? (width - 8)..<(width - 1) : width..<width
        var end = state.lowerBound - 1
        func take(_ cells: Int, from least: Int) -> Range<Int> {
            guard width >= least else { return end..<end }
            defer { end -= cells + 1 }
            return (end - cells)..<end
        }
        let used = take(8, from: 76)
        let login = take(8, from: 70)
        let kind = width >= 60 ? (name.upperBound + 1)..<(name.upperBound + 7) : name.upperBound..<name.upperBound
        let address = (kind.upperBound + 1)..<max(kind.upperBound + 2, end)
        return [name, kind, address, login, used, state]
    }

    /// `now`, `3 h ago`, `41 d ago`.
    private func words(_ use: DestinationsPage.Use?) -> SafeText {
        switch use {
        case nil: return ""
        case .now?: return "now"
        case .at(let time)?:
            let seconds = max(0, model.engineNow.wall.since(time).components.seconds)
            switch seconds {
            case ..<3600: return "\(max(1, seconds / 60)) m ago"
            case ..<86_400: return "\(seconds / 3600) h ago"
            default: return "\(seconds / 86_400) d ago"
            }
        }
    }

    private mutating func draw(
        _ destination: Destination, _ page: DestinationsPage, _ row: Int, _ columns: [Range<Int>]
    ) {
        func put(_ text: SafeText, _ cells: Range<Int>, _ style: Style = .plain) {
            guard !cells.isEmpty else { return }
            grid.put(
                text.shortened(to: cells.count, mark: appearance.glyphs.cutMark), row: row, column: cells.lowerBound,
                style: style, end: min(width, cells.upperBound))
        }
        put(appearance.safe(destination.name), columns[0], .marked)
        put(appearance.safe(String(destination.url.prefix { $0 != ":" })), columns[1])
        put(appearance.safe(RecentPlaces.harmless(destination.url)), columns[2])
        put(SafeText(destination.loginSource.word), columns[3])
        put(words(page.used[destination.name]), columns[4])
        let columns = [columns[5]]
        switch page.findings[destination.name] {
        case nil:
            if let trouble = page.trouble[destination.name] {
                put(trouble.isLogin ? "auth" : trouble.httpStatus.map { "\($0)" } ?? "ERR", columns[0], .error)
            } else if page.served.contains(destination.name) {
                put("ok", columns[0], .ok)
            }
        case .asking: put("asking", columns[0], .info)
        case .report(let report):
            put(
                report.ok ? "ok" : report.error?.httpStatus.map { "\($0)" } ?? "ERR", columns[0],
                report.ok ? .ok : .error)
        case .failed: put("ERR", columns[0], .error)
        }
    }

    private mutating func facts(_ destination: Destination, _ page: DestinationsPage, from row: Int) {
        heading(appearance.safe(destination.name), row: row, columns: 0..<width)
        let user = destination.user.map { "user \($0), " } ?? ""
        grid.put(
            appearance.safe("Login     \(user)\(destination.loginSource.meaning)"), row: row + 1, column: 1, end: width)
        let login = "\(model.key(.signIn, in: .destinations).string) takes another login"
        let (text, style): (SafeText, Style) =
            switch page.findings[destination.name] {
            case nil: ("not asked yet", .dim)
            case .asking: ("asking ...", .info)
            case .failed(let why): (appearance.safe(why), .error)
            case .report(let report):
                (
                    appearance.safe(
                        report.sentence(
                            destination.name, appearance.figures.units, login: login, at: destination.url) + "."),
                    report.ok ? .plain : .error
                )
            }
        let limit = destination.limit?.bytesPerSecond.map { "at most \(appearance.figures.speed($0)) for each batch" }
        grid.put(SafeText("Limit     \(limit ?? "no cap of its own")"), row: row + 2, column: 1, end: width)
        var next = row + 3
        if let trouble = page.trouble[destination.name] {
            let time = trouble.at.map { model.moment($0).string + "  " } ?? ""
            let files = Figures.amount(trouble.count, "file")
            let text = appearance.safe("\(time)\(trouble.batch), \(files)\(trouble.told)")
            grid.put(trouble.isLogin ? "Waits" : "Failed", row: next, column: 1)
            for line in text.wrapped(to: width - 12, lines: 2, appearance.glyphs) {
                grid.put(line, row: next, column: 11, style: .error)
                next += 1
            }
        }
        grid.put("Test", row: next, column: 1)
        let room = max(1, rows - 2 - next)
        for (y, line) in zip(next..<(rows - 2), text.wrapped(to: width - 12, lines: room, appearance.glyphs)) {
            grid.put(line, row: y, column: 11, style: style)
        }
    }

    // MARK: A form

    private mutating func serverForm(
        _ page: DestinationsPage, _ purpose: DestinationsPage.Purpose, _ form: Form<DestinationsPage.FieldID>
    ) {
        let (heading, done): (SafeText, String) =
            switch purpose {
            case .new: ("New destination", "save")
            case .edit(let old): ("Edit \(appearance.safe(old.name))", "save")
            case .signIn(let server): ("Sign in at \(appearance.safe(server.name))", "save")
            case .letIn(let waiting):
                ("Let \"\(appearance.safe(waiting.name))\" in at \(appearance.safe(waiting.url))", "save")
            case .test(let name): ("Test of \(appearance.safe(name))", "test")
            }
        title(heading, "")
        let first = rows > 10 ? 2 : min(1, rows - 1)
        let height = max(1, rows - first - (rows > 3 ? 2 : 1))
        let top = max(0, form.selected - height + 1)
        for (y, index) in zip(first..<(first + height), top...form.fields.count) {
            guard index < form.fields.count else {
                buttonRow(form, y + (rows > 10 && y + 1 < rows - 2 ? 1 : 0))
                continue
            }
            let isSelected = index == form.selected
            let label = SafeText(form.fields[index].label).fitted(to: 13)
            grid.put(label, row: y, column: 1, style: Style(isSelected ? .plain : .dim, selected: isSelected))
            formField(form, index, y, column: 15, end: 72)
        }
        destinationNote(page.note, appearance.safe(form.help))
        let hints = [("F2", done), ("Tab", "next field"), ("Esc", "back"), ("F1", "help")]
        if rows > 1 { hintLine(HintLine.text(hints, width: width), rows - 1) }
    }
}
