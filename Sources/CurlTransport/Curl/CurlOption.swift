import CCurl

/// One option of an easy handle with its value; a request is a list of them, applied in one loop.
struct CurlOption {
    enum Value {
        case long(Int)
        case offset(Int64)
        /// Copied by libcurl.
        case string(String?)
        /// Copied by libcurl, as many as CURLOPT_POSTFIELDSIZE_LARGE said before.
        case bytes([UInt8])
        /// Copied by libcurl.
        case blob([UInt8])
        /// Not copied: whoever makes the option keeps it alive until the handle is done or reset.
        case pointer(UnsafeMutableRawPointer?)
        /// Not copied, as `pointer`.
        case list(UnsafeMutablePointer<curl_slist>?)
        case write(curl_write_callback)
        case read(curl_read_callback)
        case seek(curl_seek_callback)
        case sockopt(curl_sockopt_callback)
        case prereq(curl_prereq_callback)
        case progress(curl_xferinfo_callback)
        case debug(curl_debug_callback)
        case close(curl_closesocket_callback)
    }

    let option: CURLoption
    let value: Value

    init(_ option: CURLoption, _ value: Value) {
        self.option = option
        self.value = value
    }

    static func long(_ option: CURLoption, _ value: Int) -> CurlOption { CurlOption(option, .long(value)) }
    static func flag(_ option: CURLoption, _ value: Bool) -> CurlOption { CurlOption(option, .long(value ? 1 : 0)) }
    static func string(_ option: CURLoption, _ value: String?) -> CurlOption { CurlOption(option, .string(value)) }

    /// libcurl's name of the option, for an error's text. Corresponds to `curl_easy_option_by_id`.
    var name: String {
        guard let info = curl_easy_option_by_id(option) else { return "option \(option.rawValue)" }
        return String(cString: info.pointee.name)
    }

    func apply(to handle: UnsafeMutableRawPointer) -> CURLcode {
        switch value {
        case .long(let value): CCurl_easy_setopt_long(handle, option, value)
        case .offset(let value): CCurl_easy_setopt_offset(handle, option, curl_off_t(value))
        case .string(let value?): value.withCString { CCurl_easy_setopt_string(handle, option, $0) }
        case .string(nil): CCurl_easy_setopt_string(handle, option, nil)
        case .bytes(let value):
            // libcurl only reads them; an empty array has no address, and NULL would mean a read callback.
            value.withUnsafeBytes { bytes in
                withUnsafeBytes(of: 0) { none in
                    CCurl_easy_setopt_bytes(handle, option, bytes.baseAddress ?? none.baseAddress)
                }
            }
        case .blob(let value):
            value.withUnsafeBytes { CCurl_easy_setopt_blob(handle, option, $0.baseAddress, $0.count) }
        case .pointer(let value): CCurl_easy_setopt_pointer(handle, option, value)
        case .list(let value): CCurl_easy_setopt_slist(handle, option, value)
        case .write(let value): CCurl_easy_setopt_write(handle, option, value)
        case .read(let value): CCurl_easy_setopt_read(handle, option, value)
        case .seek(let value): CCurl_easy_setopt_seek(handle, option, value)
        case .sockopt(let value): CCurl_easy_setopt_sockopt(handle, option, value)
        case .prereq(let value): CCurl_easy_setopt_prereq(handle, option, value)
        case .progress(let value): CCurl_easy_setopt_progress(handle, option, value)
        case .debug(let value): CCurl_easy_setopt_debug(handle, option, value)
        case .close(let value): CCurl_easy_setopt_close(handle, option, value)
        }
    }
}
