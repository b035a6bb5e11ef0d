import CommandLine
import Configuration
import DisplayText
import MartletKit
import Wording

/// Batches and tasks as lines of a table.
extension CommandContext {
    /// Batches, one line each.
    func tell(_ batches: [BatchSnapshot], json: Bool) -> ExitStatus {
        if json {
            for batch in batches { console.json(batch) }
            return .done
        }
        let table = TextTable(
            columns: [
                .init(title: "ID", width: 4), .init(title: "State", width: 9),
                .init(title: "Files", width: 11, alignment: .right), .init(title: "Size", width: 6, alignment: .right),
                .init(title: "Done", width: 4, alignment: .right), .init(title: "Speed", width: 7, alignment: .right),
                .init(title: "ETA", width: 6, alignment: .right),
            ],
            lastTitle: "Name", width: console.outputIsTerminal ? console.width : nil)
        if console.outputIsTerminal {
            if batches.isEmpty { console.note("nothing is queued") } else { console.line(table.header) }
        }
        for batch in batches { console.line(table.row(cells(of: batch), batch.name, remark: batch.remark)) }
        return .done
    }

    private func cells(of batch: BatchSnapshot) -> [String] {
        let units = console.units
        let moves = batch.state.isActive
        return [
            batch.id.description, batch.state.word,
            "\(batch.filesCompleted)/\(batch.filesTotal)\(batch.scanning ? "+" : "")",
            units.size(batch.bytesTotal), batch.percentText,
            moves && batch.bytesPerSecond > 0 ? units.rate(batch.bytesPerSecond) : "-",
            moves ? batch.secondsLeft.map(shownDuration(seconds:)) ?? "-" : "-",
        ]
    }

    var taskTable: TextTable {
        TextTable(
            columns: [
                .init(title: "ID", width: 6), .init(title: "State", width: 9),
                .init(title: "Size", width: 6, alignment: .right), .init(title: "Done", width: 4, alignment: .right),
                .init(title: "Speed", width: 7, alignment: .right),
            ],
            lastTitle: "Name", width: console.outputIsTerminal ? console.width : nil)
    }

    func tell(_ task: TaskSnapshot, _ table: TextTable, json: Bool) {
        guard !json else { return console.json(task) }
        let units = console.units
        let cells = [
            task.id.description, task.state.word, task.bytesTotal.map(units.size) ?? "-", task.percentText,
            task.bytesPerSecond > 0 ? units.rate(task.bytesPerSecond) : "-",
        ]
        console.line(table.row(cells, task.path, remark: task.remark))
    }
}
