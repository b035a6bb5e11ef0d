import DisplayText
import MartletKit
import Terminal

/// The lower part: the details of the cursor's row, which can have the keys, be made higher, left out or shown alone.
extension Model {
    /// True when the details below have the keys.
    var isInLower: Bool { list.lowerScroll != nil && !layout.lower.isEmpty }

    mutating func switchLower() {
        let heights = ScreenLayout.lowerHeights
        guard size.rows >= 30, size.columns >= 60 else { return sayNoLower() }
        list.lowerHeight = heights[((heights.firstIndex(of: list.lowerHeight) ?? 0) + 1) % heights.count]
        if list.lowerHeight == 0 { list.lowerScroll = nil }
    }

    mutating func enterLower() {
        if list.lowerHeight == 0, size.rows >= 30, size.columns >= 60 {
            list.lowerHeight = ScreenLayout.lowerHeights[0]
        }
        guard !layout.lower.isEmpty else { return sayNoLower() }
        list.lowerScroll = 0
    }

    private mutating func sayNoLower() {
        say("This window has no lower part: 30 lines are needed. \(key(.details)) shows the details.")
    }

    /// Does an action while the lower part has the keys; false: it is for the tree.
    mutating func performInLower(_ action: Action) -> Bool {
        guard isInLower, let row = tree.cursorRow, let scroll = list.lowerScroll else { return false }
        let lines = DetailsText(DetailsPage(row: row), in: self).facts(width: max(2, size.columns - 2)).count
        let height = max(1, layout.lower.count - 2)
        let target: Int
        switch action {
        case .down: target = scroll + 1
        case .up: target = scroll - 1
        case .pageDown, .halfPageDown: target = scroll + height
        case .pageUp, .halfPageUp: target = scroll - height
        case .first: target = 0
        case .last: target = lines
        case .back, .nextPane, .previousPane, .close:
            list.lowerScroll = nil
            return true
        case .enter, .maximise, .open:
            list.lowerScroll = nil
            showDetails(row)
            return true
        default: return false
        }
        list.lowerScroll = min(max(0, target), max(0, lines - height))
        return true
    }
}
