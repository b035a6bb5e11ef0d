/// The behaviour of a code point on a terminal. The raw values are those of `widthTable`.
enum CodePointClass: UInt32 {
    /// Never shown: controls, format characters, private use, surrogates, unassigned, invisible fillers.
    case escaped = 0
    /// One cell.
    case narrow = 1
    /// Two cells.
    case wide = 2
    /// No cell of its own: it is drawn onto the character before it.
    case mark = 3
    /// The variation selectors 15 and 16, which ask for another picture; terminals disagree about their width.
    case dropped = 4
    /// A space that is not U+0020. Shown as U+2423, or two names that differ only in their spaces would look equal.
    case oddSpace = 5

    /// Looks the code point up, by binary search in the packed runs.
    init(of codePoint: UInt32) {
        if codePoint &- 0x20 < 0x5F {
            self = .narrow
            return
        }
        var low = 0
        var high = widthTable.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if widthTable[middle] >> 3 <= codePoint { low = middle } else { high = middle }
        }
        self = CodePointClass(rawValue: widthTable[low] & 7) ?? .escaped
    }
}

/// Returns true when the code point is drawn as a picture that a joiner or a skin tone may follow. The ranges are wider
/// than Unicode's Extended_Pictographic; the gain is a joiner dropped after an arrow.
func isPictographic(_ codePoint: UInt32) -> Bool {
    switch codePoint {
    case 0x2190...0x21FF, 0x2300...0x23FF, 0x2600...0x27BF, 0x2B00...0x2BFF: true
    case 0x1F000...0x1FAFF: !isSkinTone(codePoint) && !isRegionalIndicator(codePoint)
    default: false
    }
}

func isSkinTone(_ codePoint: UInt32) -> Bool { 0x1F3FB...0x1F3FF ~= codePoint }

func isRegionalIndicator(_ codePoint: UInt32) -> Bool { 0x1F1E6...0x1F1FF ~= codePoint }
