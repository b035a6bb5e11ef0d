import CQrencode

/// A text as a QR code, for a terminal.
struct QRCode: Equatable {
    /// Modules a side.
    let width: Int
    /// Row by row; true is dark.
    let modules: [Bool]

    /// `nil` when the text is too long for a code. Corresponds to `QRcode_encodeString`.
    init?(_ text: String) {
        guard let code = QRcode_encodeString(text, 0, QR_ECLEVEL_L, QR_MODE_8, 1) else { return nil }
        defer { QRcode_free(code) }
        width = Int(code.pointee.width)
        guard let data = code.pointee.data else { return nil }
        modules = (0..<(width * width)).map { data[$0] & 1 == 1 }
    }

    /// The code in half blocks, two rows a line. Light is what is drawn, so that it is dark on light where terminals are
    /// light on dark; readers take the other way round, too.
    var lines: [String] {
        let side = -Self.quiet..<(width + Self.quiet)
        return stride(from: side.lowerBound, to: side.upperBound, by: 2).map { row in
            side.map { column in
                switch (isDark(row, column), isDark(row + 1, column)) {
                case (false, false): "█"
                case (false, true): "▀"
                case (true, false): "▄"
                case (true, true): " "
                }
            }.joined()
        }
    }

    /// Light modules around the code, by which readers find it.
    private static let quiet = 2

    private func isDark(_ row: Int, _ column: Int) -> Bool {
        guard (0..<width).contains(row), (0..<width).contains(column) else { return false }
        return modules[row * width + column]
    }
}
