import CCurl
import LinuxSystem

/// Owner of one easy handle and its error text. On the transport's loop; one for FTP belongs to the thread that uses it.
final class EasyHandle {
    /// Valid until this object goes.
    let raw: UnsafeMutableRawPointer
    /// libcurl writes here what went wrong; it must outlive the handle.
    private let errorText: UnsafeMutablePointer<CChar>
    /// The list to which `CURLOPT_HTTPHEADER` points.
    private var fields: UnsafeMutablePointer<curl_slist>?
    /// The list to which `CURLOPT_QUOTE` points.
    private var commands: UnsafeMutablePointer<curl_slist>?

    /// The kind of exchange that its options serve, when they may serve another of that kind; `configure` forgets it.
    var kind: HTTPTransferKind?

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
        curl_slist_free_all(commands)
        errorText.deallocate()
    }

    /// Forgets all options and sets these; names the first that libcurl refuses. Connections, DNS and TLS sessions
    /// belong to the multi handle, or to the handle itself when it is performed alone, and stay. Commands are sent as they
    /// are. Corresponds to `curl_easy_reset` and `curl_easy_setopt`.
    /// - Parameter place: of the commands: before anything else (`CURLOPT_QUOTE`), or right before the transfer (`CURLOPT_PREQUOTE`).
    func configure(
        _ options: [CurlOption], fields lines: [String], commands texts: [[UInt8]] = [],
        at place: CURLoption = CURLOPT_QUOTE
    ) throws(CurlError) {
        kind = nil
        curl_easy_reset(raw)
        try Self.fill(&commands, texts)
        try Self.fill(&fields, lines.map { Array($0.utf8) })
        try change(options)
        try set(CurlOption(CURLOPT_HTTPHEADER, .list(fields)))
        if !texts.isEmpty { try set(CurlOption(place, .list(commands))) }
        try set(CurlOption(CURLOPT_ERRORBUFFER, .pointer(UnsafeMutableRawPointer(errorText))))
    }

    /// Sets these options and keeps all others.
    func change(_ options: [CurlOption]) throws(CurlError) {
        errorText[0] = 0
        for option in options { try set(option) }
    }

    /// libcurl copies the texts. Corresponds to `curl_slist_append`.
    private static func fill(_ list: inout UnsafeMutablePointer<curl_slist>?, _ texts: [[UInt8]]) throws(CurlError) {
        curl_slist_free_all(list)
        list = nil
        for text in texts {
            let longer = (text + [0]).withUnsafeBufferPointer { bytes in
                bytes.withMemoryRebound(to: CChar.self) { curl_slist_append(list, $0.baseAddress) }
            }
            guard let longer else { throw CurlError(.outOfMemory, "curl_slist_append") }
            list = longer
        }
    }

    private func set(_ option: CurlOption) throws(CurlError) {
        let code = option.apply(to: raw)
        if code != CURLE_OK { throw CurlError(CurlCode(code), option.name) }
    }

    /// The text of the last transfer's error, or the code's own text.
    func errorText(or code: CurlCode) -> String {
        errorText[0] == 0 ? code.description : String(cString: errorText)
    }

    /// Everything that is known of a transfer that did not end well.
    /// - Parameters:
    ///   - fallback: the code where libcurl was content and we are not.
    ///   - address: the peer's, where there was one.
    func failure(
        _ code: CurlCode, or fallback: CurlCode, cause: CurlFailureCause?, address: String?
    ) -> CurlFailure {
        let osError = long(CURLINFO_OS_ERRNO)
        let text = errorText(or: code)
        return CurlFailure(
            code == .ok ? fallback : code, cause: cause,
            osError: osError == 0 ? nil : Errno(rawValue: Int32(truncatingIfNeeded: osError)),
            text: address.map { "\(text) (\($0))" } ?? text,
            certificate: CertificateFault(code, verifyResult: long(CURLINFO_SSL_VERIFYRESULT)))
    }

    /// The status with which a proxy has refused a tunnel, where the last transfer ended with that. Corresponds to
    /// `CURLINFO_HTTP_CONNECTCODE`.
    var proxyRefusal: Int? {
        let status = long(CURLINFO_HTTP_CONNECTCODE)
        return status < 300 ? nil : status
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
