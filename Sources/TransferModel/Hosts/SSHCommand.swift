/// The ssh that a person wants to be run: `--ssh-command`, `MARTLET_SSH_COMMAND`.
package enum SSHCommand {
    /// The words of a command line as `rsync -e` takes it: split at blanks; quotes (`'`, `"`) keep them together.
    /// `nil` for an empty one or an open quote.
    package static func words(_ line: [UInt8]) -> [[UInt8]]? {
        var words: [[UInt8]] = []
        var word: [UInt8]?
        var quote: UInt8?
        for byte in line {
            switch (quote, byte) {
            case (let open?, _) where open == byte: quote = nil
            case (nil, UInt8(ascii: "'")), (nil, UInt8(ascii: "\"")):
                quote = byte
                word = word ?? []
            case (nil, UInt8(ascii: " ")), (nil, UInt8(ascii: "\t")):
                if let done = word { words.append(done) }
                word = nil
            default:
                // In place: a copy for each byte takes the square of a long word's time.
                if word == nil { word = [] }
                word?.append(byte)
            }
        }
        if let done = word { words.append(done) }
        return quote == nil && !words.isEmpty && words[0] != [] ? words : nil
    }
}
