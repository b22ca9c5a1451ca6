#include "CCurl.h"

CURLcode ccurl_easy_setopt_long(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

CURLcode ccurl_easy_setopt_pointer(CURL *handle, CURLoption option, const void *value) {
  return curl_easy_setopt(handle, option, value);
}

CURLcode ccurl_easy_setopt_blob(CURL *handle, CURLoption option, const void *bytes, size_t count) {
  struct curl_blob blob = {.data = (void *)bytes, .len = count, .flags = CURL_BLOB_COPY};
  return curl_easy_setopt(handle, option, &blob);
}

CURLcode ccurl_easy_setopt_write(CURL *handle, curl_write_callback callback, void *context) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, callback);
  return code != CURLE_OK ? code : curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
}

CURLcode ccurl_easy_setopt_header(CURL *handle, curl_write_callback callback, void *context) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, callback);
  return code != CURLE_OK ? code : curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
}

CURLcode ccurl_easy_getinfo_long(CURL *handle, CURLINFO info, long *value) {
  return curl_easy_getinfo(handle, info, value);
}

CURLMcode ccurl_multi_setopt_long(CURLM *handle, CURLMoption option, long value) {
  return curl_multi_setopt(handle, option, value);
}

CURLcode ccurl_easy_setopt_read(
    CURL *handle, curl_read_callback read, curl_seek_callback seek, void *context) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_READFUNCTION, read);
  if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_READDATA, context);
  if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, seek);
  return code != CURLE_OK ? code : curl_easy_setopt(handle, CURLOPT_SEEKDATA, context);
}

CURLcode ccurl_easy_setopt_prereq(CURL *handle, curl_prereq_callback callback, void *context) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, callback);
  return code != CURLE_OK ? code : curl_easy_setopt(handle, CURLOPT_PREREQDATA, context);
}

CURLcode ccurl_easy_setopt_sockets(
    CURL *handle, curl_opensocket_callback open, curl_closesocket_callback close, void *context) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, open);
  if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, context);
  if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, close);
  return code != CURLE_OK ? code : curl_easy_setopt(handle, CURLOPT_CLOSESOCKETDATA, context);
}

CURLcode ccurl_easy_setopt_tls(CURL *handle, curl_ssl_ctx_callback callback, void *context) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_SSL_CTX_FUNCTION, callback);
  return code != CURLE_OK ? code : curl_easy_setopt(handle, CURLOPT_SSL_CTX_DATA, context);
}

void *ccurl_easy_private(CURL *handle) {
  char *context = NULL;
  curl_easy_getinfo(handle, CURLINFO_PRIVATE, &context);
  return context;
}

void *ccurl_easy_openssl(CURL *handle) {
  struct curl_tlssessioninfo *session = NULL;
  if (curl_easy_getinfo(handle, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK) return NULL;
  return session && session->backend == CURLSSLBACKEND_OPENSSL ? session->internals : NULL;
}

CURLMcode ccurl_multi_setopt_socket(CURLM *handle, curl_socket_callback callback, void *context) {
  CURLMcode code = curl_multi_setopt(handle, CURLMOPT_SOCKETFUNCTION, callback);
  return code != CURLM_OK ? code : curl_multi_setopt(handle, CURLMOPT_SOCKETDATA, context);
}

CURLMcode ccurl_multi_setopt_timer(
    CURLM *handle, curl_multi_timer_callback callback, void *context) {
  CURLMcode code = curl_multi_setopt(handle, CURLMOPT_TIMERFUNCTION, callback);
  return code != CURLM_OK ? code : curl_multi_setopt(handle, CURLMOPT_TIMERDATA, context);
}

const curl_version_info_data *ccurl_version(void) { return curl_version_info(CURLVERSION_NOW); }
