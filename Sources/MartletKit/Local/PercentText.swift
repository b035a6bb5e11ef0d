import TransferModel

/// Percent-encoding of bytes in texts of one line.
package enum PercentText {
    package static func decoded(_ bytes: some Sequence<UInt8>) -> [UInt8] { PercentEncoding.decode(bytes) }

    /// Everything that is not a plain character of a path becomes `%NN`.
    package static func encoded(_ bytes: some Sequence<UInt8>) -> String {
        bytes.reduce(into: "") { text, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            case _ where "-._~/!$&'()*+,;=:@".utf8.contains(byte): text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16).uppercased()
            }
        }
    }
}
