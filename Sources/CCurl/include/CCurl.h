#ifndef PUSHPOOL_CCURL_H
#define PUSHPOOL_CCURL_H

#include <curl/curl.h>

// curl_easy_setopt and curl_easy_getinfo are variadic, which Swift does not import.
CURLcode ccurl_easy_setopt_long(CURL *handle, CURLoption option, long value);
CURLcode ccurl_easy_setopt_pointer(CURL *handle, CURLoption option, const void *value);
CURLcode ccurl_easy_setopt_write(CURL *handle, curl_write_callback callback, void *context);
CURLcode ccurl_easy_setopt_header(CURL *handle, curl_write_callback callback, void *context);
CURLcode ccurl_easy_getinfo_long(CURL *handle, CURLINFO info, long *value);
CURLMcode ccurl_multi_setopt_long(CURLM *handle, CURLMoption option, long value);

#endif
