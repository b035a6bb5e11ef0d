import DisplayText
import MartletKit
import Terminal

/// A picture of the model. Pure: the same model gives the same cells.
struct Drawing {
    let model: Model
    let layout: ScreenLayout
    var grid: Grid
    /// On the first letter of the selected row's name, because screen readers and braille displays follow it.
    var cursor = Cursor(row: 0, column: 0)
    /// Those below others come first.
    var targets: [ClickTarget] = []

    var appearance: Appearance { model.appearance }
    var width: Int { model.size.columns }
    var rows: Int { model.size.rows }

    /// The screen as it should look now.
    static func draw(_ model: Model) -> (grid: Grid, cursor: Cursor) {
        let drawing = drawn(model)
        return (drawing.grid, drawing.cursor)
    }

    static func drawn(_ model: Model) -> Drawing {
        var drawing = Drawing(model: model, layout: model.layout, grid: Grid(model.size))
        let layers = model.layers.open(in: model)
        let hiding = layers.firstIndex { type(of: $0).hidesPage }
        if hiding == nil { drawing.page() }
        for layer in layers.prefix((hiding ?? layers.endIndex) + 1).reversed() { layer.draw(in: &drawing) }
        return drawing
    }

    private mutating func page() {
        let page = model.page
        page.draw(in: &self)
    }

    mutating func hintLine(_ line: SafeText, _ row: Int) {
        grid.fill(row: row, style: .hint)
        grid.put(line, row: row, column: 0, style: .hint)
    }
}
