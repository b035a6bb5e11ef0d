import Glibc

/// The bytes of a C string without its NUL. Corresponds to `strlen`.
func length(of text: UnsafePointer<CChar>) -> Int { strlen(text) }

/// A text made from a C format and its arguments, up to 1023 bytes. Corresponds to `vsnprintf`.
func formatted(_ format: UnsafePointer<CChar>, _ arguments: CVaListPointer) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { buffer in
        guard let base = buffer.baseAddress, vsnprintf(base, buffer.count, format, arguments) >= 0 else { return "" }
        return String(String(cString: base).split(separator: "\n").joined(separator: " "))
    }
}
