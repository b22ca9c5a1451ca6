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

static int64_t number_of(const ASN1_INTEGER *integer, int64_t missing) {
  int64_t number;
  if (integer == NULL) return missing;
  // OpenSSL cuts it to an int, so that one below 0 may be another one there.
  return ASN1_INTEGER_get_int64(&number, integer) == 1 && number >= 0 ? number : INT64_MAX;
}

static int64_t product_of(int64_t one, int64_t other) {
  return one != 0 && other > INT64_MAX / one ? INT64_MAX : one * other;
}

// The iterations of a key derivation function: PBKDF2 (RFC 8018, A.2) or scrypt (RFC 7914, 7.1). OpenSSL knows no other.
static int64_t iterations_of_function(const X509_ALGOR *function) {
  int64_t iterations = 0;
  switch (OBJ_obj2nid(function->algorithm)) {
  case NID_id_pbkdf2: {
    PBKDF2PARAM *known = ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBKDF2PARAM), function->parameter);
    if (known != NULL) iterations = number_of(known->iter, 1);
    PBKDF2PARAM_free(known);
    break;
  }
#ifndef OPENSSL_NO_SCRYPT
  case NID_id_scrypt: {
    SCRYPT_PARAMS *known = ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(SCRYPT_PARAMS), function->parameter);
    if (known != NULL) {
      iterations = product_of(
          product_of(number_of(known->costParameter, 1), number_of(known->blockSize, 1)),
          number_of(known->parallelizationParameter, 1));
    }
    SCRYPT_PARAMS_free(known);
    break;
  }
#endif
  }
  return iterations;
}

// The iterations of what encrypts or authenticates by a password. Without parameters that OpenSSL can read it derives no key.
static int64_t iterations_of(const X509_ALGOR *algorithm) {
  int64_t iterations = 0;
  int kind = OBJ_obj2nid(algorithm->algorithm);
  if (kind == NID_pbes2 || kind == NID_pbmac1) {
    // Both have the same form: a function, and what is done with the key (RFC 8018, A.4 and A.5).
    PBE2PARAM *known = ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBE2PARAM), algorithm->parameter);
    if (known != NULL && known->keyfunc != NULL) iterations = iterations_of_function(known->keyfunc);
    PBE2PARAM_free(known);
  } else {
    PBEPARAM *known = ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBEPARAM), algorithm->parameter);
    if (known != NULL) iterations = number_of(known->iter, 1);
    PBEPARAM_free(known);
  }
  return iterations;
}

static int64_t sum_of(int64_t sum, int64_t iterations, int64_t each_max) {
  return iterations > each_max || sum > INT64_MAX - iterations ? INT64_MAX : sum + iterations;
}

// Bags within bags, deeper than anybody writes them.
enum { BAG_DEPTH_MAX = 8 };

static int64_t iterations_of_bags(const STACK_OF(PKCS12_SAFEBAG) *bags, int64_t each_max, int depth) {
  int64_t sum = depth > BAG_DEPTH_MAX ? INT64_MAX : 0;
  for (int i = 0; sum != INT64_MAX && i < sk_PKCS12_SAFEBAG_num(bags); i++) {
    const PKCS12_SAFEBAG *bag = sk_PKCS12_SAFEBAG_value(bags, i);
    int kind = PKCS12_SAFEBAG_get_nid(bag);
    if (kind == NID_pkcs8ShroudedKeyBag) {
      sum = sum_of(sum, copenssl_pkcs8_iterations(PKCS12_SAFEBAG_get0_pkcs8(bag), each_max), each_max);
    } else if (kind == NID_safeContentsBag) {
      int64_t inner = iterations_of_bags(PKCS12_SAFEBAG_get0_safes(bag), each_max, depth + 1);
      sum = sum_of(sum, inner, INT64_MAX);
    }
  }
  return sum;
}

static int64_t iterations_of_opened(STACK_OF(PKCS12_SAFEBAG) *bags, int64_t each_max) {
  int64_t sum = bags == NULL ? 0 : iterations_of_bags(bags, each_max, 0);
  sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
  return sum;
}

static int is_encrypted(const PKCS7 *part) {
  return PKCS7_type_is_encrypted(part) && part->d.encrypted != NULL;
}

int64_t copenssl_pkcs8_iterations(const X509_SIG *encrypted, int64_t each_max) {
  const X509_ALGOR *algorithm = NULL;
  if (encrypted != NULL) X509_SIG_get0(encrypted, &algorithm, NULL);
  return algorithm == NULL ? 0 : sum_of(0, iterations_of(algorithm), each_max);
}

int64_t copenssl_pkcs12_iterations(PKCS12 *container, int64_t each_max) {
  int64_t sum = 0;
  if (PKCS12_mac_present(container)) {
    const X509_ALGOR *algorithm = NULL;
    const ASN1_INTEGER *iterations = NULL;
    PKCS12_get0_mac(NULL, &algorithm, NULL, &iterations, container);
    sum = sum_of(sum, number_of(iterations, 1), each_max);
    if (algorithm != NULL) sum = sum_of(sum, iterations_of(algorithm), each_max);
  }
  STACK_OF(PKCS7) *parts = PKCS12_unpack_authsafes(container);
  for (int i = 0; sum != INT64_MAX && i < sk_PKCS7_num(parts); i++) {
    PKCS7 *part = sk_PKCS7_value(parts, i);
    if (is_encrypted(part)) {
      sum = sum_of(sum, iterations_of(part->d.encrypted->enc_data->algorithm), each_max);
    } else if (PKCS7_type_is_data(part) && part->d.data != NULL) {
      sum = sum_of(sum, iterations_of_opened(PKCS12_unpack_p7data(part), each_max), INT64_MAX);
    }
  }
  sk_PKCS7_pop_free(parts, PKCS7_free);
  return sum;
}

int64_t copenssl_pkcs12_inner_iterations(PKCS12 *container, const char *password, int64_t each_max) {
  int64_t sum = 0;
  STACK_OF(PKCS7) *parts = PKCS12_unpack_authsafes(container);
  for (int i = 0; sum != INT64_MAX && i < sk_PKCS7_num(parts); i++) {
    PKCS7 *part = sk_PKCS7_value(parts, i);
    if (!is_encrypted(part) || part->d.encrypted->enc_data->enc_data == NULL) continue;
    int length = (int)strlen(password);
    STACK_OF(PKCS12_SAFEBAG) *bags = PKCS12_unpack_p7encdata(part, password, length);
    // Without a password there are two ways to count it (RFC 7292, appendix B.1).
    if (bags == NULL && length == 0) bags = PKCS12_unpack_p7encdata(part, NULL, 0);
    sum = sum_of(sum, iterations_of_opened(bags, each_max), INT64_MAX);
  }
  sk_PKCS7_pop_free(parts, PKCS7_free);
  return sum;
}
