#ifndef PUSHPOOL_CCURL_H
#define PUSHPOOL_CCURL_H

#include <curl/curl.h>

// curl_easy_setopt and curl_easy_getinfo are variadic, which Swift does not import.
CURLcode ccurl_easy_setopt_long(CURL *handle, CURLoption option, long value);
/// The bytes are copied.
CURLcode ccurl_easy_setopt_blob(CURL *handle, CURLoption option, const void *bytes, size_t count);
CURLcode ccurl_easy_setopt_pointer(CURL *handle, CURLoption option, const void *value);
CURLcode ccurl_easy_setopt_write(CURL *handle, curl_write_callback callback, void *context);
CURLcode ccurl_easy_setopt_header(CURL *handle, curl_write_callback callback, void *context);
CURLcode ccurl_easy_getinfo_long(CURL *handle, CURLINFO info, long *value);
CURLMcode ccurl_multi_setopt_long(CURLM *handle, CURLMoption option, long value);
CURLcode ccurl_easy_setopt_read(
    CURL *handle, curl_read_callback read, curl_seek_callback seek, void *context);
CURLcode ccurl_easy_setopt_prereq(CURL *handle, curl_prereq_callback callback, void *context);
CURLcode ccurl_easy_setopt_sockets(
    CURL *handle, curl_opensocket_callback open, curl_closesocket_callback close, void *context);
CURLcode ccurl_easy_setopt_tls(CURL *handle, curl_ssl_ctx_callback callback, void *context);
/// What CURLOPT_PRIVATE was set to.
void *ccurl_easy_private(CURL *handle);
/// The SSL object of the connection in use; NULL without one or with another TLS library.
void *ccurl_easy_openssl(CURL *handle);
CURLMcode ccurl_multi_setopt_socket(CURLM *handle, curl_socket_callback callback, void *context);
CURLMcode ccurl_multi_setopt_timer(
    CURLM *handle, curl_multi_timer_callback callback, void *context);
const curl_version_info_data *ccurl_version(void);

#endif
