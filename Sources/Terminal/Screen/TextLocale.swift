package import DisplayText
import Glibc

/// The characters that the terminal is believed to show.
package enum TextLocale {
    /// Sets the locale for characters, without which ncurses draws nothing beyond ASCII, and says what it allows.
    /// In the C locale, or when the named one is not installed, C.UTF-8 is taken; a locale with another encoding is
    /// believed, and everything beyond ASCII will be escaped. Only LC_CTYPE is changed: numbers stay as they are.
    ///
    /// setlocale(3), nl_langinfo(3). Not thread-safe: to be called before other threads exist.
    package static func adopt() -> CharacterSet {
        let named = setlocale(LC_CTYPE, "") != nil
        let encoding = nl_langinfo(nl_item(CODESET)).map { String(cString: $0) } ?? ""
        if named && encoding == "UTF-8" { return .utf8 }
        if !named || encoding == "ANSI_X3.4-1968" {
            if setlocale(LC_CTYPE, "C.UTF-8") != nil || setlocale(LC_CTYPE, "C.utf8") != nil { return .utf8 }
        }
        return .ascii
    }
}
