#include "COpenSSL.h"

long copenssl_ctx_set_mode(SSL_CTX *ctx, long mode) { return SSL_CTX_set_mode(ctx, mode); }

long copenssl_ctx_set_min_proto_version(SSL_CTX *ctx, int version) {
  return SSL_CTX_set_min_proto_version(ctx, version);
}

long copenssl_ctx_set_read_ahead(SSL_CTX *ctx, int yes) {
  SSL_CTX_set_read_ahead(ctx, yes);
  return 1;
}

long copenssl_ctx_set_session_cache_mode(SSL_CTX *ctx, long mode) {
  return SSL_CTX_set_session_cache_mode(ctx, mode);
}

long copenssl_ssl_set_server_name(SSL *ssl, const char *name) {
  return SSL_set_tlsext_host_name(ssl, name);
}

long copenssl_ctx_add_extra_chain_cert(SSL_CTX *ctx, X509 *certificate) {
  return SSL_CTX_add_extra_chain_cert(ctx, certificate);
}

long copenssl_bio_get_mem_data(BIO *bio, char **data) { return BIO_get_mem_data(bio, data); }
