import Configuration
import MartletKit

extension ValueSyntax where Value == NodeID {
    /// `b7`, `t31`, `b7:raw/2024`.
    static var node: ValueSyntax {
        ValueSyntax(
            "ID", allowed: "an ID such as b7, t31 or b7:raw/2024", completion: .identifiers, read: NodeID.init(bytes:))
    }
}

extension ValueSyntax where Value == BatchID {
    /// `b7`.
    static var batch: ValueSyntax {
        ValueSyntax("ID", allowed: "a batch such as b7", completion: .identifiers) { text in
            guard case .batch(let id) = NodeID(text) else { return nil }
            return id
        }
    }
}

extension ValueSyntax where Value == SessionName {
    static var session: ValueSyntax {
        ValueSyntax("NAME", allowed: "a session's name of 1 to 200 bytes without control characters") {
            SessionName(rawValue: $0)
        }
    }
}

extension ValueSyntax where Value == BatchName {
    static var batchName: ValueSyntax {
        ValueSyntax("TEXT", allowed: "a batch's name of 1 to 1000 bytes") { BatchName(rawValue: $0) }
    }
}

extension ValueSyntax where Value == HeaderField {
    /// `Name: value`, as it stands on the wire.
    static var header: ValueSyntax {
        ValueSyntax("'K: V'", allowed: "a header field such as 'X-Token: abc', on one line") { text in
            guard let colon = text.firstIndex(of: ":"), colon > text.startIndex,
                text[..<colon].utf8.allSatisfy(isTokenByte),
                !text.unicodeScalars.contains(where: { $0.value < 32 && $0 != "\t" || $0.value == 127 })
            else { return nil }
            let value = text[text.index(after: colon)...]
            return HeaderField(String(text[..<colon]), String(value.trimmingBlanks))
        }
    }

    /// `name=value`; both as they are, the name not empty. `name=@FILE` is a file to curl and would be text to us; `name=@@TEXT` is @TEXT.
    static var formField: ValueSyntax {
        ValueSyntax(
            "K=V",
            allowed: "a field and its text such as album=June; a file is a SOURCE, and --form names its field; "
                + "text with an @ in front is K=@@TEXT"
        ) { text in
            guard let sign = text.firstIndex(of: "="), sign > text.startIndex else { return nil }
            let value = text[text.index(after: sign)...]
            guard value.hasPrefix("@") else { return HeaderField(String(text[..<sign]), String(value)) }
            return value.hasPrefix("@@") ? HeaderField(String(text[..<sign]), String(value.dropFirst())) : nil
        }
    }

    /// RFC 9110 section 5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

extension ValueSyntax where Value == String {
    /// 64 hexadecimal digits.
    static var sha256: ValueSyntax {
        ValueSyntax("HEX", allowed: "a SHA-256 digest of 64 hexadecimal digits") { text in
            let isDigest = text.utf8.count == 64 && text.allSatisfy { $0.isASCII && $0.isHexDigit }
            return isDigest ? text.lowercased() : nil
        }
    }

    /// `sha256//` and base64, as curl's `--pinnedpubkey`.
    static var pin: ValueSyntax {
        ValueSyntax("sha256//BASE64", allowed: "sha256// and the base64 digest of the server's public key") { text in
            let digest = text.dropFirst(8)
            let isPin = text.hasPrefix("sha256//") && digest.utf8.count == 44 && digest.hasSuffix("=")
            return isPin ? text : nil
        }
    }

    /// Only what is said when there is none; `TransferURL` looks closer.
    static func url(_ placeholder: String) -> ValueSyntax {
        ValueSyntax(placeholder, allowed: "a URL such as https://nas.example/photos/") { $0 }
    }

    /// A command that prints a password. The engine runs it, and not where it is typed.
    static var passwordCommand: ValueSyntax {
        ValueSyntax(
            "CMD", allowed: "a command by its name or its absolute path (it is run in /)", completion: .commands
        ) { $0.isEmpty || Destination.isRelative(command: $0) ? nil : $0 }
    }

    /// A shell pattern.
    static var glob: ValueSyntax {
        ValueSyntax(
            "GLOB",
            allowed: "a pattern such as '*.jpg' or 'raw/**'; a list in braces is none: give the option once for each"
        ) { $0.isEmpty || TransferOptions.hasBraceList($0) ? nil : $0 }
    }
}

extension Substring {
    fileprivate var trimmingBlanks: Substring {
        var text = self
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
