/// A field's piece without spaces and tabs around it (RFC 9110's OWS).
func trimmed(_ text: some StringProtocol) -> Substring {
    var rest = Substring(text)
    while let first = rest.utf8.first, isBlank(first) { rest = rest.dropFirst() }
    while let last = rest.utf8.last, isBlank(last) { rest = rest.dropLast() }
    return rest
}

/// The members of a comma-separated field; commas inside double quotes do not separate.
func listMembers(_ field: String) -> [Substring] {
    var members: [Substring] = []
    var isQuoted = false
    var start = field.startIndex
    for position in field.utf8.indices {
        switch field.utf8[position] {
        case UInt8(ascii: "\""): isQuoted.toggle()
        case UInt8(ascii: ",") where !isQuoted:
            members.append(trimmed(field[start..<position]))
            start = field.utf8.index(after: position)
        default: break
        }
    }
    members.append(trimmed(field[start...]))
    return members.filter { !$0.isEmpty }
}

private func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
