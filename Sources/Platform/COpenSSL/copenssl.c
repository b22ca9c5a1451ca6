#include "COpenSSL.h"

#include <string.h>

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

void copenssl_ssl_keep_buffers(SSL *ssl, int is_kept) {
  if (is_kept) {
    SSL_clear_mode(ssl, SSL_MODE_RELEASE_BUFFERS);
  } else {
    SSL_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS);
  }
}

// SSL_rstate_string(3): "RH" while a record's header is read.
int copenssl_ssl_is_between_records(SSL *ssl) { return strcmp(SSL_rstate_string(ssl), "RH") == 0; }

long copenssl_ctx_add_extra_chain_cert(SSL_CTX *ctx, X509 *certificate) {
  return SSL_CTX_add_extra_chain_cert(ctx, certificate);
}

void copenssl_ctx_refuse_renegotiation(SSL_CTX *ctx) {
  SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION);
}

X509 *copenssl_certificates_pop(STACK_OF(X509) *certificates) { return sk_X509_pop(certificates); }

void copenssl_certificates_free(STACK_OF(X509) *certificates) {
  sk_X509_pop_free(certificates, X509_free);
}

STACK_OF(X509) *copenssl_certificates_of(X509 *certificate) {
  STACK_OF(X509) *certificates = sk_X509_new_null();
  if (certificates != NULL && certificate != NULL) {
    X509_up_ref(certificate);
    sk_X509_push(certificates, certificate);
  }
  return certificates;
}

long copenssl_bio_get_mem_data(BIO *bio, char **data) { return BIO_get_mem_data(bio, data); }

int copenssl_pkcs12_cipher(PKCS12 *container) {
  STACK_OF(PKCS7) *parts = PKCS12_unpack_authsafes(container);
  int cipher = NID_undef;
  for (int i = 0; cipher == NID_undef && i < sk_PKCS7_num(parts); i++) {
    PKCS7 *part = sk_PKCS7_value(parts, i);
    if (PKCS7_type_is_encrypted(part) && part->d.encrypted != NULL) {
      cipher = OBJ_obj2nid(part->d.encrypted->enc_data->algorithm->algorithm);
    }
  }
  sk_PKCS7_pop_free(parts, PKCS7_free);
  return cipher;
}
