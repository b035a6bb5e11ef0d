// The door to libcrypto (OpenSSL 3): digests and HMAC through EVP, comparison in constant time. No shims needed.
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
