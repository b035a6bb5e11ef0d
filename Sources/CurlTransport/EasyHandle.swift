import CCurl
import LinuxSystem

/// Owner of one easy handle and its error text. On the transport's loop.
final class EasyHandle {
    /// Valid until this object goes.
    let raw: UnsafeMutableRawPointer
    /// libcurl writes here what went wrong; it must outlive the handle.
    private let errorText: UnsafeMutablePointer<CChar>
    /// What `CURLOPT_HTTPHEADER` points to.
    private var fields: UnsafeMutablePointer<curl_slist>?

    /// Corresponds to `curl_easy_init`.
    init() throws(CurlError) {
        Self.startLibrary
        guard let raw = curl_easy_init() else { throw CurlError(.outOfMemory, "curl_easy_init") }
        self.raw = raw
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText[0] = 0
    }

    deinit {
        curl_easy_cleanup(raw)
        curl_slist_free_all(fields)
        errorText.deallocate()
    }

    /// Forgets all options and sets these; names the first that libcurl refuses. Connections, DNS and TLS sessions
    /// belong to the multi handle and stay. Corresponds to `curl_easy_reset` and `curl_easy_setopt`.
    func configure(_ options: [CurlOption], fields lines: [String]) throws(CurlError) {
        curl_easy_reset(raw)
        errorText[0] = 0
        curl_slist_free_all(fields)
        fields = nil
        for line in lines {
            guard let longer = curl_slist_append(fields, line) else {
                throw CurlError(.outOfMemory, "curl_slist_append")
            }
            fields = longer
        }
        for option in options { try set(option) }
        try set(CurlOption(CURLOPT_HTTPHEADER, .list(fields)))
        try set(CurlOption(CURLOPT_ERRORBUFFER, .pointer(UnsafeMutableRawPointer(errorText))))
    }

    private func set(_ option: CurlOption) throws(CurlError) {
        let code = option.apply(to: raw)
        if code != CURLE_OK { throw CurlError(CurlCode(code), option.name) }
    }

    /// What went wrong with the last transfer, or the code's own text.
    func errorText(or code: CurlCode) -> String {
        errorText[0] == 0 ? code.description : String(cString: errorText)
    }

    func long(_ info: CURLINFO) -> Int {
        var value = 0
        return CCurl_easy_getinfo_long(raw, info, &value) == CURLE_OK ? value : 0
    }

    func offset(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        return CCurl_easy_getinfo_offset(raw, info, &value) == CURLE_OK ? Int64(value) : 0
    }

    func string(_ info: CURLINFO) -> String? {
        var value: UnsafeMutablePointer<CChar>?
        guard CCurl_easy_getinfo_string(raw, info, &value) == CURLE_OK, let value else { return nil }
        return String(cString: value)
    }

    /// libcurl's own start, once in the process and before any handle. Corresponds to `curl_global_init`.
    private static let startLibrary: Void = {
        // It fails only when a TLS library cannot start or memory is out, and then curl_easy_init fails too.
        _ = curl_global_init(CCurl_GLOBAL_DEFAULT)
        // With CURLOPT_NOSIGNAL libcurl leaves SIGPIPE to us, and a TLS library writes without MSG_NOSIGNAL.
        Signals.ignoreBrokenPipe()
    }()
}
