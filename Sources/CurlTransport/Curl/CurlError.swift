import CCurl

/// libcurl's own result number. Corresponds to `CURLcode`; the names are libcurl's without their prefix.
package struct CurlCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number as `<curl/curl.h>` has it.
    package let rawValue: Int32

    /// Wraps a number as `<curl/curl.h>` has it.
    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    init(_ code: CURLcode) {
        rawValue = Int32(code.rawValue)
    }

    /// libcurl's text for the number. Corresponds to `curl_easy_strerror`.
    package var description: String {
        String(cString: curl_easy_strerror(CURLcode(UInt32(bitPattern: rawValue))))
    }

    /// `CURLE_OK`
    package static let ok = CurlCode(CURLE_OK)
    /// `CURLE_URL_MALFORMAT`
    package static let badURL = CurlCode(CURLE_URL_MALFORMAT)
    /// `CURLE_COULDNT_RESOLVE_HOST`
    package static let cannotResolveHost = CurlCode(CURLE_COULDNT_RESOLVE_HOST)
    /// `CURLE_COULDNT_CONNECT`
    package static let cannotConnect = CurlCode(CURLE_COULDNT_CONNECT)
    /// `CURLE_PARTIAL_FILE`
    package static let partialBody = CurlCode(CURLE_PARTIAL_FILE)
    /// `CURLE_WRITE_ERROR`
    package static let writeFailed = CurlCode(CURLE_WRITE_ERROR)
    /// `CURLE_OUT_OF_MEMORY`
    package static let outOfMemory = CurlCode(CURLE_OUT_OF_MEMORY)
    /// `CURLE_OPERATION_TIMEDOUT`
    package static let timedOut = CurlCode(CURLE_OPERATION_TIMEDOUT)
    /// `CURLE_ABORTED_BY_CALLBACK`
    package static let aborted = CurlCode(CURLE_ABORTED_BY_CALLBACK)
    /// `CURLE_BAD_FUNCTION_ARGUMENT`
    package static let badArgument = CurlCode(CURLE_BAD_FUNCTION_ARGUMENT)
    /// `CURLE_GOT_NOTHING`
    package static let gotNothing = CurlCode(CURLE_GOT_NOTHING)
    /// `CURLE_RECV_ERROR`
    package static let receiveFailed = CurlCode(CURLE_RECV_ERROR)
    /// `CURLE_SEND_FAIL_REWIND`
    package static let rewindFailed = CurlCode(CURLE_SEND_FAIL_REWIND)
}

/// A request that could not be set up: libcurl refused an option, or the request holds what HTTP cannot carry.
package struct CurlError: Error, Equatable, Sendable, CustomStringConvertible {
    package let code: CurlCode
    /// The option or part of the request that was refused, for a person.
    package let subject: String

    /// A refusal with libcurl's code and what it was about.
    package init(_ code: CurlCode, _ subject: String) {
        self.code = code
        self.subject = subject
    }

    package var description: String { "\(subject): \(code)" }
}
