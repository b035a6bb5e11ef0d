import DisplayText
import MartletKit
import Terminal

/// The first two lines: how it stands with the engine, and with everything.
extension Drawing {
    mutating func header() {
        guard let row = layout.header else { return }
        grid.fill(row: row, style: .header)
        let right = clock.width > 0 && rates.width > 0 ? rates + "  " + clock : rates + clock
        var left: SafeText = " martlet"
        for (index, part) in headerParts.enumerated() {
            let longer = left + "  " + part
            // The first says how it stands with the engine and is cut rather than left out.
            if index > 0, longer.width + right.width + 3 > width { break }
            left = longer
        }
        grid.put(left, row: row, column: 0, style: .header)
        if left.width + right.width + 3 <= width {
            grid.put(right, row: row, column: width - right.width - 1, style: .header)
        }
    }

    private var headerParts: [SafeText] {
        var parts = [engine]
        if model.tree.isFlat { parts.append("all files") }
        if model.list.followed != nil { parts.append("follows") }
        if let frozen = model.list.frozen {
            parts.append("FROZEN \(appearance.safe(appearance.timeOfDay(frozen.since)))")
        }
        guard let totals = model.totals, totals.batches > 0 else {
            return parts + (model.tree.isKnown && model.isConnected ? ["nothing queued"] : [])
        }
        // Of what a filter hides nothing else is said: two counts would contradict each other.
        if let filterCount {
            parts.append(filterCount + " files")
        } else {
            parts.append(SafeText(batches(totals).words))
            let whose = batches(totals).saysWhose || totals.isOver ? "" : " of unfinished ones"
            parts.append(SafeText(Figures.amount(totals.counts.total, "file") + whose))
        }
        if model.hearsNews {
            // What has its bytes there holds up nobody: it is none of those that the limit counts.
            if totals.counts.running > 0 { parts.append("\(Figures.count(totals.counts.running)) active") }
            if totals.counts.finishing > 0 { parts.append("\(Figures.count(totals.counts.finishing)) checking") }
        }
        if !model.tree.marks.isEmpty, model.filters.shown?.marksAll != true {
            parts.append("\(model.tree.marks.count) marked")
        }
        if totals.viewers > 1 { parts.append("viewers \(totals.viewers)") }
        return parts
    }

    /// The files and bytes beside it are of what is unfinished as long as anything is, and that is said where it is known.
    private func batches(_ totals: QueueTotals) -> (words: String, saysWhose: Bool) {
        let all = Figures.amount(totals.batches, "batch", "batches")
        guard !totals.isOver, let root = model.tree.root, Int64(root.rows.count) == root.total else {
            return (all, false)
        }
        let unfinished = root.rows.count { !$0.isOver }
        if unfinished == 0 { return (all, false) }
        if unfinished < root.rows.count { return ("\(unfinished) of \(all) unfinished", true) }
        return (Figures.amount(totals.batches, "unfinished batch", "unfinished batches"), true)
    }

    /// The state of the engine in words.
    private var engine: SafeText {
        switch model.connection.state {
        case .connecting: return "connecting to the engine"
        case .failed: return "NO ENGINE"
        case .connected:
            if model.silence == nil, let trouble = model.totals?.trouble {
                let what = model.totals?.troubleFinding?.happening ?? trouble
                return "engine STANDS STILL: " + appearance.safe(what)
            }
            guard let silence = model.silence else {
                return (model.machine.map { "engine of \($0)" } ?? "engine") + (stopping ?? " ok") + uptime
            }
            return "\(model.silentEngine) for \(silence.components.seconds) s"
        case .lost(let since, let nextTry, let loss):
            let seconds = max(0, model.now.wall.since(since).components.seconds)
            let lost = model.words(loss) + (seconds > 0 ? " for \(seconds) s" : "")
            // It was told to end: nobody waits for it.
            if loss == .stopped { return lost }
            if let due = model.connection.restarts.due {
                return "\(lost), starting again in \(model.now.seconds(until: due)) s"
            }
            let deed: SafeText = model.isLineDown ? "trying" : "looking"
            guard let nextTry else { return "\(lost), \(deed) again now" }
            return "\(lost), \(deed) again in \(model.now.seconds(until: nextTry)) s"
        }
    }

    /// Said of an engine that is about to end; what stands in line says, too, that it waits for the next one.
    private var stopping: SafeText? {
        guard let totals = model.totals, totals.stopping else { return nil }
        return totals.counts.active == 0 ? " STOPS" : " STOPS after \(Figures.amount(totals.counts.active, "file"))"
    }

    private var rates: SafeText {
        guard let totals = model.totals, totals.counts.active > 0, model.hearsNews else { return "" }
        var parts: [String] = []
        if totals.bytesPerSecondUp > 0 { parts.append("up \(appearance.figures.speed(totals.bytesPerSecondUp))") }
        if totals.bytesPerSecondDown > 0 { parts.append("down \(appearance.figures.speed(totals.bytesPerSecondDown))") }
        if let cap = cap(totals) { parts.append(cap) }
        return SafeText(parts.joined(separator: "  "))
    }

    /// The engine's limits as they hold now; that there is none is said where there is room.
    private func cap(_ totals: QueueTotals) -> String? {
        switch (totals.limitUp, totals.limitDown) {
        case (nil, nil): return width >= 110 ? "cap off" : nil
        case (let up?, let down?) where up == down: return "cap \(appearance.figures.size(up))"
        case (let up?, nil) where totals.bytesPerSecondDown == 0: return "cap \(appearance.figures.size(up))"
        case (nil, let down?) where totals.bytesPerSecondUp == 0: return "cap \(appearance.figures.size(down))"
        case (let up, let down):
            func size(_ rate: Int64?) -> String { rate.map { appearance.figures.size($0) } ?? "off" }
            return "cap up \(size(up)), down \(size(down))"
        }
    }

    // MARK: The total

    mutating func total() {
        if layout.header == nil { return summary() }
        if let stale { return put(stale, .error) }
        guard let totals = model.totals, totals.counts.total > 0 else { return }
        if let over = over(totals) { return put(" " + over + "   " + SafeText(done(totals)), .plain) }
        let figures = "\(share(totals).percent)%  \(done(totals))"
        let text = SafeText("  " + figures + (timeLeft(totals).map { "   ETA \($0)" } ?? ""))
        // What a filter hides is in it, too.
        let name: SafeText = filterCount == nil ? " " : " all "
        guard width >= 40 else { return put(name + text, .plain) }
        // The figures keep their width, so that the bar's end does not dance.
        let room = width - max(text.width, min(36, width / 2)) - 3 - name.width
        guard room >= 4 else { return put(text, .plain) }
        let bar = Bar.text(share(totals), width: room, appearance.glyphs)
        put(name + "[" + bar + "]" + text, .plain)
    }

    private mutating func put(_ text: SafeText, _ style: Style) {
        grid.put(text.beginning(of: width), row: layout.total, column: 0, style: style)
    }

    /// A remark that what is shown is old; `nil` when it is not.
    private var stale: SafeText? {
        guard !model.canChange, let news = model.connection.lastNews else { return nil }
        return " Shown below: as of \(appearance.timeOfDay(news)). Keys that change anything are off."
    }

    /// In windows of a few lines: all of it in one.
    private mutating func summary() {
        switch model.connection.state {
        case .connected where model.silence == nil: break
        case .connecting: return put("connecting", .plain)
        case .connected, .lost, .failed:
            let since = model.silenceSince.map { " for \($0.components.seconds) s" } ?? ""
            return put("\(model.isLineDown ? "NO LINE" : "NO ENGINE")\(since)", .error)
        }
        guard let totals = model.totals, totals.counts.total > 0 else { return put("nothing queued", .plain) }
        var text = over(totals) ?? SafeText("\(share(totals).percent)%")
        let speed = totals.bytesPerSecondUp + totals.bytesPerSecondDown
        if speed > 0 { text += SafeText(" \(appearance.figures.speed(speed))") }
        if let seconds = totals.secondsLeft, !totals.isOver { text += SafeText(" \(Figures.timeLeft(seconds))") }
        if share(totals).isComplete { text += " done" }
        put(text, .plain)
        guard rows > 2, !problemsAreInHints, let problems = problems(withKey: false) else { return }
        grid.put(problems, row: layout.total, column: text.width + 2, style: .error)
    }

    /// In windows without a header: whether the first line has no room for the problems.
    var problemsAreInHints: Bool {
        guard layout.header == nil, let problems = problems(withKey: false) else { return false }
        return rows == 2 || problems.width + 17 > width
    }

    /// The outcome when nothing is left to do and not all of it is there: no bar, which would stand still for ever.
    private func over(_ totals: QueueTotals) -> SafeText? {
        guard totals.isOver, !model.isScanning, !share(totals).isComplete else { return nil }
        let counts = totals.counts
        let parts = [(counts.completed, "done"), (counts.failed, "failed"), (counts.cancelled, "cancelled")]
        let words = parts.filter { $0.0 > 0 }.map { "\(Figures.count($0.0)) \($0.1)" }
        return SafeText("over: " + words.joined(separator: ", "))
    }

    private func share(_ totals: QueueTotals) -> Share { totals.share(scanning: model.isScanning) }

    private func done(_ totals: QueueTotals) -> String {
        "\(appearance.figures.size(totals.bytes.done)) of \(appearance.figures.size(totals.bytes.total))"
    }

    private func timeLeft(_ totals: QueueTotals) -> String? {
        if totals.isOver || !model.hearsNews { return nil }
        return totals.counts.active > 0 ? Figures.timeLeftInWords(totals.secondsLeft) : nil
    }
}
