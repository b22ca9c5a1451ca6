#ifndef PUSHPOOL_COPENSSL_H
#define PUSHPOOL_COPENSSL_H

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <stdint.h>

// OpenSSL offers these as macros only, which Swift does not import.
long copenssl_ctx_set_mode(SSL_CTX *ctx, long mode);
long copenssl_ctx_set_min_proto_version(SSL_CTX *ctx, int version);
long copenssl_ctx_set_read_ahead(SSL_CTX *ctx, int yes);
long copenssl_ctx_set_session_cache_mode(SSL_CTX *ctx, long mode);
long copenssl_ssl_set_server_name(SSL *ssl, const char *name);
long copenssl_ctx_add_extra_chain_cert(SSL_CTX *ctx, X509 *certificate);
long copenssl_bio_get_mem_data(BIO *bio, char **data);
/// Whether the session's buffers stay when they are empty.
void copenssl_ssl_keep_buffers(SSL *ssl, int is_kept);
/// Whether nothing of a record's body is awaited.
int copenssl_ssl_is_between_records(SSL *ssl);
void copenssl_ctx_refuse_renegotiation(SSL_CTX *ctx);
/// Takes the last certificate out of the stack; NULL when there is none.
X509 *copenssl_certificates_pop(STACK_OF(X509) *certificates);
void copenssl_certificates_free(STACK_OF(X509) *certificates);
STACK_OF(X509) *copenssl_certificates_of(X509 *certificate);
/// The NID of the cipher of the first part of a container that is encrypted with its password; NID_undef for none.
int copenssl_pkcs12_cipher(PKCS12 *container);

// How many iterations it takes to derive keys from a password, as those who wrote a file ask for it. INT64_MAX stands for more than
// each_max at once, and for what is no number.

/// The iterations for a container's code of authenticity and for what is encrypted in clear sight. No key is derived.
int64_t copenssl_pkcs12_iterations(PKCS12 *container, int64_t each_max);
/// The iterations for what is encrypted within parts that are encrypted themselves, which are opened for it. A part that does not
/// open has none.
int64_t copenssl_pkcs12_inner_iterations(PKCS12 *container, const char *password, int64_t each_max);
/// The iterations for an encrypted key (PKCS #8). No key is derived.
int64_t copenssl_pkcs8_iterations(const X509_SIG *encrypted, int64_t each_max);

#endif
