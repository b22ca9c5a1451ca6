#include "CNGHTTP2.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_BYTES = 64, CLASSES = 16 };

/// Stands before each block.
typedef union header {
  /// 1 to CLASSES: a block of so many steps; 0: larger, and not kept.
  size_t steps;
  union header *next;
  _Alignas(16) char alignment[16];
} header;

struct cnghttp2_pool {
  nghttp2_mem memory;
  header *kept[CLASSES + 1];
};

static void *take(size_t count, void *user_data) {
  cnghttp2_pool *pool = user_data;
  size_t steps = (count + STEP_BYTES - 1) / STEP_BYTES;
  if (steps == 0) steps = 1;
  if (steps > CLASSES) {
    if (count > SIZE_MAX - sizeof(header)) return NULL;
    header *made = malloc(sizeof(header) + count);
    if (made == NULL) return NULL;
    made->steps = 0;
    return made + 1;
  }
  header *block = pool->kept[steps];
  if (block != NULL) {
    pool->kept[steps] = block->next;
  } else {
    block = malloc(sizeof(header) + steps * STEP_BYTES);
    if (block == NULL) return NULL;
  }
  block->steps = steps;
  return block + 1;
}

static void give_back(void *pointer, void *user_data) {
  if (pointer == NULL) return;
  cnghttp2_pool *pool = user_data;
  header *block = (header *)pointer - 1;
  size_t steps = block->steps;
  if (steps == 0) {
    free(block);
    return;
  }
  block->next = pool->kept[steps];
  pool->kept[steps] = block;
}

static void *take_cleared(size_t number, size_t size, void *user_data) {
  if (size != 0 && number > SIZE_MAX / size) return NULL;
  void *taken = take(number * size, user_data);
  if (taken != NULL) memset(taken, 0, number * size);
  return taken;
}

static void *resize(void *pointer, size_t count, void *user_data) {
  if (pointer == NULL) return take(count, user_data);
  header *block = (header *)pointer - 1;
  if (block->steps == 0) {
    // It may shrink below the largest kept size, and stays what it is.
    if (count > SIZE_MAX - sizeof(header)) return NULL;
    block = realloc(block, sizeof(header) + count);
    return block == NULL ? NULL : block + 1;
  }
  size_t capacity = block->steps * STEP_BYTES;
  if (count <= capacity) return pointer;
  void *taken = take(count, user_data);
  if (taken == NULL) return NULL;
  memcpy(taken, pointer, capacity);
  give_back(pointer, user_data);
  return taken;
}

cnghttp2_pool *cnghttp2_pool_create(void) {
  cnghttp2_pool *pool = calloc(1, sizeof(cnghttp2_pool));
  if (pool == NULL) return NULL;
  pool->memory.mem_user_data = pool;
  pool->memory.malloc = take;
  pool->memory.free = give_back;
  pool->memory.calloc = take_cleared;
  pool->memory.realloc = resize;
  return pool;
}

nghttp2_mem *cnghttp2_pool_memory(cnghttp2_pool *pool) { return &pool->memory; }

void cnghttp2_pool_trim(cnghttp2_pool *pool) {
  if (pool == NULL) return;
  for (size_t steps = 1; steps <= CLASSES; steps++) {
    while (pool->kept[steps] != NULL) {
      header *next = pool->kept[steps]->next;
      free(pool->kept[steps]);
      pool->kept[steps] = next;
    }
  }
}

void cnghttp2_pool_free(cnghttp2_pool *pool) {
  cnghttp2_pool_trim(pool);
  free(pool);
}
