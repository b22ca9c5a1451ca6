#ifndef CNGHTTP2_H
#define CNGHTTP2_H

#include <nghttp2/nghttp2.h>

/// Memory of one session. nghttp2 allocates and frees some blocks for each stream; here a freed block waits
/// for the next request of its size. What is held is what the session's busiest moment needed, until it is trimmed.
typedef struct cnghttp2_pool cnghttp2_pool;

/// Null when there is no memory.
cnghttp2_pool *cnghttp2_pool_create(void);

/// For nghttp2_session_client_new3; as long as the pool.
nghttp2_mem *cnghttp2_pool_memory(cnghttp2_pool *pool);

/// Frees what is held. Null is fine.
void cnghttp2_pool_trim(cnghttp2_pool *pool);

/// After the session was deleted. Null is fine.
void cnghttp2_pool_free(cnghttp2_pool *pool);

#endif
