import CCurl

/// The reasons for which a peer's certificate is refused.
package enum CertificateFault: Sendable, Equatable {
    case expired
    case notYetValid
    /// It is another server's: none of its names is the one that was asked for.
    case otherName
    /// Signed by itself, or by nobody that is trusted here.
    case unknownAuthority
    case other
}

extension CertificateFault {
    /// Reads OpenSSL's verdict behind libcurl's `CURLE_PEER_FAILED_VERIFICATION`; `nil` for any other code.
    /// Corresponds to `CURLINFO_SSL_VERIFYRESULT`; the numbers are those of `X509_STORE_CTX_get_error(3)`.
    init?(_ code: CurlCode, verifyResult: Int) {
        guard code == CurlCode(CURLE_PEER_FAILED_VERIFICATION) else { return nil }
        switch verifyResult {
        case 9: self = .notYetValid
        case 10: self = .expired
        case 2, 18, 19, 20, 21, 27: self = .unknownAuthority
        // libcurl compares names by itself, before it asks for OpenSSL's verdict: 1 is what stands there until then.
        case 0, 1, 62: self = .otherName
        default: self = .other
        }
    }
}
