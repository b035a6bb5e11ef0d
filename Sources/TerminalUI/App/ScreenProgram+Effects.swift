import FoundationEssentials
import DisplayText
import MartletKit
import Terminal

/// Requests that are done here: text that goes out, and views beside the one that is shown.
extension ScreenProgram {
    /// To the terminal, or into a file when that is not wanted, or would be too long for it.
    func copy(_ copied: CopiedText) -> RequestResult {
        let bytes = Array(copied.text.utf8)
        if copiesThroughTerminal, bytes.count <= Screen.mostCopied, screen.copy(bytes) {
            return .copied(copied, file: nil)
        }
        return switch engine.write(bytes, as: "copied.txt") {
        case .success(let file): .copied(copied, file: file)
        case .failure(let error): .notSaved(error.message)
        }
    }

    /// The command that shows text when the person has named nothing.
    private static let pager = "command -v less >/dev/null && exec less; exec more"

    /// The pager has the terminal until the person leaves it; nothing is read or drawn meanwhile.
    func showPlain(_ text: String) {
        let pager = TerminalUI.environment("PAGER").flatMap { $0.isEmpty ? nil : $0 } ?? Self.pager
        do throws(TerminalError) {
            let environment = ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
            try screen.lend(to: pager, input: Array(text.utf8), environment: environment)
        } catch {
            take(
                .answer(.notSaved("\(pager) could not show the text: set PAGER to another program, or write a report."))
            )
        }
        take(.resized(screen.size))
    }

    /// A view of the batches beside the one that is filtered.
    func watchBatches(_ isWanted: Bool) {
        batchesWatch?.cancel()
        batchesWatch = nil
        guard isWanted else { return }
        batchesWatch = Task {
            let view = await engine.view()
            defer { view.cancel() }
            view.show([SectionRequest(parent: nil, limit: 200)], totals: false)
            for await update in view {
                guard let root = update.sections.first(where: { $0.parent == nil }) else { continue }
                take(.batches(root.rows))
            }
        }
    }

    /// One small view for each filter.
    func count(_ filters: [String]) {
        for (filter, task) in counting where !filters.contains(filter) {
            task.cancel()
            counting[filter] = nil
        }
        for filter in filters where counting[filter] == nil {
            counting[filter] = Task {
                let view = await engine.view()
                defer { view.cancel() }
                view.show([SectionRequest(parent: nil, limit: 1)], totals: false, filter: filter)
                for await update in view {
                    if let count = update.filter, count.text == filter { take(.counted(count)) }
                }
            }
        }
    }
}
