#include "CHiredis.h"

#include <stdlib.h>
#include <string.h>

#if HIREDIS_MAJOR >= 1
typedef size_t array_length;
#else
typedef int array_length;
#endif

enum { BLOCK_BYTES = 64 * 1024, ALIGNMENT = 16 };

typedef struct block {
  struct block *previous;
  size_t capacity;
  size_t used;
  _Alignas(ALIGNMENT) char bytes[];
} block;

struct chiredis_reader {
  redisReader *raw;
  redisReplyObjectFunctions functions;
  /// The one that is filled; earlier ones hang on it.
  block *current;
  size_t elements_max;
  int depth_max;
  size_t bytes_max;
  /// Why a reply was refused here; null when hiredis found the fault. hiredis itself would call each of these
  /// "Out of memory".
  const char *refusal;
  /// What all blocks hold.
  size_t bytes;
  /// Whether the arena holds a reply that was handed out.
  int is_handed_out;
};

/// Ends the reading of a reply.
static void *refuse(chiredis_reader *reader, const char *why) {
  reader->refusal = why;
  return NULL;
}

static block *make_block(block *previous, size_t capacity) {
  block *made = malloc(sizeof(block) + capacity);
  if (made == NULL) return NULL;
  made->previous = previous;
  made->capacity = capacity;
  made->used = 0;
  return made;
}

static void *take(chiredis_reader *reader, size_t count) {
  size_t rounded = (count + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
  block *current = reader->current;
  if (current->capacity - current->used < rounded) {
    size_t capacity = rounded > BLOCK_BYTES ? rounded : BLOCK_BYTES;
    if (reader->bytes + capacity > reader->bytes_max) return refuse(reader, "a reply takes too much memory");
    current = make_block(current, capacity);
    if (current == NULL) return NULL;
    reader->bytes += capacity;
    reader->current = current;
  }
  void *taken = current->bytes + current->used;
  current->used += rounded;
  return taken;
}

/// Frees everything but the first block, which is used again.
static void reset(chiredis_reader *reader) {
  while (reader->current->previous != NULL) {
    block *previous = reader->current->previous;
    free(reader->current);
    reader->current = previous;
  }
  reader->current->used = 0;
  reader->bytes = reader->current->capacity;
  reader->is_handed_out = 0;
}

/// hiredis 1.x reads the types of RESP3 too, 0.14 calls them a protocol error. A server sends them only to a client
/// that asked for them by HELLO 3, so here they are an error with either.
static redisReply *make_reply(const redisReadTask *task, size_t extra) {
  if (task->type == REDIS_REPLY_NIL || task->type > REDIS_REPLY_ERROR)
    return refuse(task->privdata, "a type of RESP3, which was not asked for");
  redisReply *reply = take(task->privdata, sizeof(redisReply) + extra);
  if (reply == NULL) return NULL;
  memset(reply, 0, sizeof(redisReply));
  reply->type = task->type;
  if (task->parent != NULL) {
    redisReply *parent = task->parent->obj;
    parent->element[task->idx] = reply;
  }
  return reply;
}

static void *make_string(const redisReadTask *task, char *bytes, size_t count) {
  redisReply *reply = make_reply(task, count + 1);
  if (reply == NULL) return NULL;
  reply->str = (char *)(reply + 1);
  memcpy(reply->str, bytes, count);
  reply->str[count] = 0;
  reply->len = count;
  return reply;
}

static void *make_array(const redisReadTask *task, array_length count) {
  chiredis_reader *reader = task->privdata;
  // A hostile length must not get as far as an allocation.
  if (count < 0 || (size_t)count > reader->elements_max)
    return refuse(reader, "an array has too many elements");
  // hiredis 0.14 nests 8 deep, 1.x as deep as there is memory. `ridx` counts the arrays around this one.
  if (reader->raw->ridx >= reader->depth_max) return refuse(reader, "arrays are nested too deep");
  redisReply *reply = make_reply(task, (size_t)count * sizeof(redisReply *));
  if (reply == NULL) return NULL;
  reply->element = (redisReply **)(reply + 1);
  memset(reply->element, 0, (size_t)count * sizeof(redisReply *));
  reply->elements = (size_t)count;
  return reply;
}

static void *make_integer(const redisReadTask *task, long long value) {
  redisReply *reply = make_reply(task, 0);
  if (reply != NULL) reply->integer = value;
  return reply;
}

static void *make_nil(const redisReadTask *task) {
  // The task's type is that of the string or array that is not there.
  redisReply *reply = make_reply(task, 0);
  if (reply != NULL) reply->type = REDIS_REPLY_NIL;
  return reply;
}

#if HIREDIS_MAJOR >= 1
// Without these, hiredis puts a number in place of the object's address.
static void *refuse_double(const redisReadTask *task, double value, char *bytes, size_t count) {
  (void)value, (void)bytes, (void)count;
  return make_reply(task, 0);
}

static void *refuse_bool(const redisReadTask *task, int value) {
  (void)value;
  return make_reply(task, 0);
}
#endif

/// The arena is reset as a whole.
static void keep_object(void *object) { (void)object; }

chiredis_reader *chiredis_reader_create(size_t elements_max, int depth_max, size_t bytes_max) {
  chiredis_reader *reader = calloc(1, sizeof(chiredis_reader));
  if (reader == NULL) return NULL;
  reader->elements_max = elements_max;
  reader->depth_max = depth_max;
  reader->bytes_max = bytes_max;
  reader->bytes = BLOCK_BYTES;
  reader->functions.createString = make_string;
  reader->functions.createArray = make_array;
  reader->functions.createInteger = make_integer;
  reader->functions.createNil = make_nil;
#if HIREDIS_MAJOR >= 1
  reader->functions.createDouble = refuse_double;
  reader->functions.createBool = refuse_bool;
#endif
  reader->functions.freeObject = keep_object;
  reader->current = make_block(NULL, BLOCK_BYTES);
  reader->raw = redisReaderCreateWithFunctions(&reader->functions);
  if (reader->current == NULL || reader->raw == NULL) {
    if (reader->raw != NULL) redisReaderFree(reader->raw);
    free(reader->current);
    free(reader);
    return NULL;
  }
  reader->raw->privdata = reader;
  return reader;
}

void chiredis_reader_free(chiredis_reader *reader) {
  if (reader == NULL) return;
  redisReaderFree(reader->raw);
  reset(reader);
  free(reader->current);
  free(reader);
}

size_t chiredis_reader_waiting(const chiredis_reader *reader) {
  return reader->raw->len - reader->raw->pos;
}

int chiredis_reader_feed(chiredis_reader *reader, const char *bytes, size_t count) {
  return redisReaderFeed(reader->raw, bytes, count);
}

int chiredis_reader_next(chiredis_reader *reader, redisReply **reply) {
  if (reader->is_handed_out) reset(reader);
  void *found = NULL;
  int result = redisReaderGetReply(reader->raw, &found);
  if (found != NULL) reader->is_handed_out = 1;
  *reply = found;
  return result;
}

redisReply *chiredis_reader_beginning(const chiredis_reader *reader) {
  return reader->is_handed_out ? NULL : reader->raw->reply;
}

const char *chiredis_reader_error(const chiredis_reader *reader) {
  return reader->refusal != NULL ? reader->refusal : reader->raw->errstr;
}
