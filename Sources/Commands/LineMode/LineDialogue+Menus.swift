import MartletKit

/// The menus of the line mode.
extension LineDialogue {
    /// The menu of the current place; `nil`: a question is asked there.
    func menu(_ queue: QueueState) -> LineMenu? {
        switch place {
        case .top: topMenu(queue)
        case .batch(let id): batchMenu(id, queue)
        case .part(let name, let batch): partMenu(name, back: batch.map { .batch($0) } ?? .top)
        case .filter(let text): filterMenu(text)
        default: nil
        }
    }

    private func topMenu(_ queue: QueueState) -> LineMenu {
        let count = min(queue.batches.count, Self.most)
        return LineMenu(
            opening: count == 0 ? "" : count == 1 ? "1 chooses, " : "1 to \(count) choose, ",
            [
                .init("a", label: "add") { dialogue, _ in dialogue.go(to: .sources) },
                .init("g", label: "download") { dialogue, _ in dialogue.go(to: .links) },
                .init("f", label: "filter") { dialogue, _ in dialogue.go(to: .filtering) },
                .init("t", label: "limits") { dialogue, _ in
                    dialogue.place = .limit(nil, back: .top)
                    return Reply(commands: [["limit"]])
                },
                .init("s", "", label: "status") { dialogue, queue in Reply(lines: dialogue.overview(queue)) },
                .problems, .undo,
                .init("c", label: "clear finished") { dialogue, _ in
                    dialogue.go(
                        to: .sure(
                            question:
                                "Forget every finished batch? No file is touched, and u takes it back for a while.",
                            words: ["purge", "--finished"], no: "Nothing was forgotten.", back: .top))
                },
                .help([
                    "A number chooses a batch, an ID such as b7 or t31 what it names. Each choice is a command of martlet, and is shown as such.",
                    "News is told by itself: what ends or fails at once, progress every 10 percent.",
                    Self.takesBack,
                ]),
                .init("q", label: "leave") { _, _ in
                    Reply(
                        lines: ["Transfers go on without this window. Come back: martlet --accessible"], leaves: true)
                },
            ])
    }

    private func batchMenu(_ id: BatchID, _ queue: QueueState) -> LineMenu {
        let batch = queue.batches.first { $0.id == id }
        let isOver = batch?.state.isTerminal ?? true
        let wasSaid = said.menu?.batch == id ? said.menu?.resumes : nil
        let resumes = wasSaid ?? Self.canBeResumed(id, queue)
        let (failed, cancelled) = (batch?.filesFailed ?? 0, batch?.filesCancelled ?? 0)
        return LineMenu(
            about: batch?.name ?? "\(id)",
            [
                .init(
                    "p", label: resumes ? "resume" : "pause", help: "pauses the batch or lets it go on", isSaid: !isOver
                ) { dialogue, queue in
                    resumes ? Reply(commands: [["resume", "\(id)"]]) : dialogue.pause(["\(id)"], "it", queue)
                },
                .init("x", label: "cancel", help: "cancels it after a question", isSaid: !isOver) { dialogue, queue in
                    dialogue.askToCancel(["\(id)"], "it", queue)
                },
                .init("r", label: "retry", help: "tries again what failed", isSaid: failed + cancelled > 0) {
                    dialogue, _ in
                    let isThere = batch?.causes.contains { $0.code == .destinationExists } ?? false
                    return isThere ? dialogue.go(to: .existing(id)) : Reply(commands: [["retry", "\(id)"]])
                },
                .init(
                    "d", label: "other destination", help: "sends what failed elsewhere",
                    isSaid: failed > 0 && batch?.direction != .download
                ) { dialogue, _ in dialogue.go(to: .elsewhere(id)) },
                .init("w", label: "why", help: "says why it does not move", isSaid: !isOver) { _, _ in
                    Reply(commands: [["why", "\(id)"]])
                },
                .init("t", label: "limit", help: "limits its speed", isSaid: !isOver) { dialogue, _ in
                    dialogue.go(to: .limit("\(id)", back: dialogue.place))
                },
                .init("o", label: "first", help: "puts it before all others", isSaid: !isOver) { _, _ in
                    Reply(commands: [["move", "\(id)", "--top"]])
                },
                .init("s", "", label: "status", help: "says how far it is") { dialogue, _ in
                    Reply(lines: batch.map { [dialogue.sentence($0)] } ?? [])
                },
                .init(
                    "l", label: "its files",
                    help: "lists its files (the first \(Self.most); martlet list \(id) has all)"
                ) { _, _ in Reply(files: id) },
                .init("f", label: "folder or file", help: "goes to a folder or file of it") { dialogue, _ in
                    dialogue.go(to: .findingPart(id))
                },
            ], back: .top)
    }

    private func partMenu(_ name: String, back: Place) -> LineMenu {
        LineMenu(
            about: name,
            [
                .init("p", label: "pause", help: "pauses \(name)") { dialogue, queue in
                    dialogue.pause([name], name, queue)
                },
                .init("g", label: "go on", help: "lets it go on") { _, _ in Reply(commands: [["resume", name]]) },
                .init("x", label: "cancel", help: "cancels it after a question") { dialogue, queue in
                    dialogue.askToCancel([name], name, queue)
                },
                .init("r", label: "retry", help: "tries again what failed") { _, _ in
                    Reply(commands: [["retry", name]])
                },
                .init("t", label: "limit", help: "limits its speed") { dialogue, _ in
                    dialogue.go(to: .limit(name, back: dialogue.place))
                },
                .init("w", label: "why", help: "says why it does not move") { _, _ in Reply(commands: [["why", name]])
                },
                .init("l", "s", "", label: "list", help: "lists it") { _, _ in
                    Reply(commands: [[name.hasPrefix("t") ? "show" : "list", name]])
                },
            ], back: back)
    }

    private func filterMenu(_ text: String) -> LineMenu {
        let (which, what) = (["--filter", text], "all files that match \(text)")
        return LineMenu(
            about: text,
            [
                .init("p", label: "pause", help: "pauses") { dialogue, queue in dialogue.pause(which, what, queue) },
                .init("g", label: "go on", help: "lets go on") { _, _ in Reply(commands: [["resume"] + which]) },
                .init("x", label: "cancel", help: "cancels after a question") { dialogue, queue in
                    dialogue.askToCancel(which, what, queue)
                },
                .init("r", label: "retry", help: "tries again") { _, _ in Reply(commands: [["retry"] + which]) },
                .init("l", "s", "", label: "list", help: "lists them") { _, _ in Reply(commands: [["list"] + which]) },
            ], helpOpening: "All of it is done to every file that matches \(text): ", back: .top)
    }
}
