import CCurl

extension ConnectionSettings {
    /// The options that say so, for any protocol. `tls` are the versions that may be spoken.
    func options(tls: Int) -> [CurlOption] {
        var options: [CurlOption] = [
            .long(CURLOPT_SSLVERSION, tls),
            .flag(CURLOPT_SSL_VERIFYPEER, verifiesServer),
            .long(CURLOPT_SSL_VERIFYHOST, verifiesServer ? 2 : 0),
        ]
        if let authorities {
            options += [
                CurlOption(CURLOPT_CAINFO_BLOB, .blob(authorities.bytes)), .string(CURLOPT_CAPATH, nil),
            ]
        }
        if let pin = pinnedKey { options.append(.string(CURLOPT_PINNEDPUBLICKEY, pin)) }
        if let certificate = clientCertificate { options.append(.string(CURLOPT_SSLCERT, certificate)) }
        if let key = clientKey { options.append(.string(CURLOPT_SSLKEY, key)) }
        if let credentials = credentials {
            options += [
                .string(CURLOPT_USERNAME, credentials.user),
                .string(CURLOPT_PASSWORD, credentials.password),
                .long(CURLOPT_HTTPAUTH, credentials.scheme == .basic ? CCurl_AUTH_BASIC : CCurl_AUTH_BASIC_OR_DIGEST),
            ]
        }
        switch proxy {
        case .none:
            // The empty text turns the environment's proxies off.
            options.append(.string(CURLOPT_PROXY, ""))
        case .url(let url): options += [.string(CURLOPT_PROXY, url), .string(CURLOPT_NOPROXY, "")]
        }
        return options
    }
}
