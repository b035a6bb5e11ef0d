import CCrypto

/// Our own context of libcrypto, with its built-in algorithms. What a machine's settings leave of them does not matter here: in FIPS mode
/// there is no MD5, by which S3 and others tell files apart, and nothing here is kept secret by it.
enum CryptoLibrary {
    // Unsafe only to the compiler: a context never changes once its provider is loaded, lives as long as the process, and libcrypto lets any
    // thread use it.
    // `nil`, where there is no memory for one or no such provider: libcrypto then takes the context that the machine's settings made.
    nonisolated(unsafe) static let context: OpaquePointer? = {
        let context = OSSL_LIB_CTX_new()
        guard OSSL_PROVIDER_load(context, "default") != nil else { return nil }
        return context
    }()
}
