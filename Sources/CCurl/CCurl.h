// The door to libcurl. `curl_easy_setopt`, `curl_easy_getinfo` and `curl_multi_setopt` are variadic macros,
// which the importer refuses; each shim below is one of them with the last argument's type spelled out.
#pragma once
#include <curl/curl.h>

static inline CURLcode CCurl_easy_setopt_long(CURL *curl, CURLoption option, long value) {
    return curl_easy_setopt(curl, option, value);
}
static inline CURLcode CCurl_easy_setopt_offset(CURL *curl, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(curl, option, value);
}
static inline CURLcode CCurl_easy_setopt_string(CURL *curl, CURLoption option, const char *value) {
    return curl_easy_setopt(curl, option, value);
}
static inline CURLcode CCurl_easy_setopt_pointer(CURL *curl, CURLoption option, void *value) {
    return curl_easy_setopt(curl, option, value);
}
static inline CURLcode CCurl_easy_setopt_bytes(CURL *curl, CURLoption option, const void *value) {
    return curl_easy_setopt(curl, option, value);
}
static inline CURLcode CCurl_easy_setopt_blob(CURL *curl, CURLoption option, const void *data, size_t size) {
    struct curl_blob blob = {(void *)data, size, CURL_BLOB_COPY};
    return curl_easy_setopt(curl, option, &blob);
}
static inline CURLcode CCurl_easy_setopt_slist(CURL *curl, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(curl, option, value);
}
static inline CURLcode CCurl_easy_setopt_write(CURL *curl, CURLoption option, curl_write_callback value) {
    return curl_easy_setopt(curl, option, value);
}
static inline CURLcode CCurl_easy_setopt_read(CURL *curl, CURLoption option, curl_read_callback value) {
    return curl_easy_setopt(curl, option, value);
}
static inline CURLcode CCurl_easy_setopt_seek(CURL *curl, CURLoption option, curl_seek_callback value) {
    return curl_easy_setopt(curl, option, value);
}
static inline CURLcode CCurl_easy_setopt_sockopt(CURL *curl, CURLoption option, curl_sockopt_callback value) {
    return curl_easy_setopt(curl, option, value);
}
static inline CURLcode CCurl_easy_setopt_prereq(CURL *curl, CURLoption option, curl_prereq_callback value) {
    return curl_easy_setopt(curl, option, value);
}

static inline CURLcode CCurl_easy_setopt_progress(CURL *curl, CURLoption option, curl_xferinfo_callback value) {
    return curl_easy_setopt(curl, option, value);
}
static inline CURLcode CCurl_easy_setopt_debug(CURL *curl, CURLoption option, curl_debug_callback value) {
    return curl_easy_setopt(curl, option, value);
}
static inline CURLcode CCurl_easy_setopt_close(CURL *curl, CURLoption option, curl_closesocket_callback value) {
    return curl_easy_setopt(curl, option, value);
}

static inline CURLcode CCurl_easy_getinfo_long(CURL *curl, CURLINFO info, long *value) {
    return curl_easy_getinfo(curl, info, value);
}
static inline CURLcode CCurl_easy_getinfo_offset(CURL *curl, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(curl, info, value);
}
static inline CURLcode CCurl_easy_getinfo_string(CURL *curl, CURLINFO info, char **value) {
    return curl_easy_getinfo(curl, info, value);
}
static inline CURLcode CCurl_easy_getinfo_pointer(CURL *curl, CURLINFO info, void **value) {
    return curl_easy_getinfo(curl, info, value);
}

static inline CURLMcode CCurl_multi_setopt_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode CCurl_multi_setopt_pointer(CURLM *multi, CURLMoption option, void *value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode CCurl_multi_setopt_socket(CURLM *multi, CURLMoption option, curl_socket_callback value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode CCurl_multi_setopt_timer(CURLM *multi, CURLMoption option, curl_multi_timer_callback value) {
    return curl_multi_setopt(multi, option, value);
}

// The message's result is in a union, whose members the importer shows as overlapping storage.
static inline CURLcode CCurl_message_result(const CURLMsg *message) { return message->data.result; }

// Macros with casts, which the importer leaves out.
static const long CCurl_AUTH_BASIC = CURLAUTH_BASIC;
static const long CCurl_AUTH_BASIC_OR_DIGEST = CURLAUTH_BASIC | CURLAUTH_DIGEST;
static const long CCurl_GLOBAL_DEFAULT = CURL_GLOBAL_DEFAULT;
static const long CCurl_SSLVERSION_TLSv1_2 = CURL_SSLVERSION_TLSv1_2;
static const long CCurl_SSLVERSION_MAX_TLSv1_2 = CURL_SSLVERSION_TLSv1_2 | CURL_SSLVERSION_MAX_TLSv1_2;
static const long CCurl_USESSL_NONE = CURLUSESSL_NONE;
static const long CCurl_USESSL_ALL = CURLUSESSL_ALL;
static const long CCurl_FTPFILE_NOCWD = CURLFTPMETHOD_NOCWD;
static const long CCurl_HTTP_VERSION_1_1 = CURL_HTTP_VERSION_1_1;
