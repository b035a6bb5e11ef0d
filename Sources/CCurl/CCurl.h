// The door to libcurl. `curl_easy_setopt`, `curl_easy_getinfo` and `curl_multi_setopt` are variadic macros,
// which the importer refuses; each shim below is one of them with the last argument's type spelled out.
#pragma once
#include <curl/curl.h>
