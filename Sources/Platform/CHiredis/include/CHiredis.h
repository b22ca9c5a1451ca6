#ifndef CHIREDIS_H
#define CHIREDIS_H

#include <hiredis/hiredis.h>

/// hiredis' reply parser over an arena of its own: an element of a reply is a step in a block, and all of
/// a reply is freed by one reset. Hides besides what differs between hiredis 0.14 and 1.x: the type of an array's
/// length, the depth of nesting, and RESP3.
typedef struct chiredis_reader chiredis_reader;

/// Null when there is no memory. Arrays of more than `elements_max` are refused before anything is
/// allocated for them, and replies that would hold more than `bytes_max` while they arrive. So are more than
/// `depth_max` arrays inside one another (at most 8), and every type that RESP2 lacks.
chiredis_reader *chiredis_reader_create(size_t elements_max, int depth_max, size_t bytes_max);
void chiredis_reader_free(chiredis_reader *reader);

/// Bytes that were fed and are not part of a complete reply yet.
size_t chiredis_reader_waiting(const chiredis_reader *reader);

/// REDIS_OK, or REDIS_ERR with `chiredis_reader_error`.
int chiredis_reader_feed(chiredis_reader *reader, const char *bytes, size_t count);

/// The next complete reply, valid until the next call; null in `*reply` when more bytes are needed.
int chiredis_reader_next(chiredis_reader *reader, redisReply **reply);

/// Of a reply that `chiredis_reader_next` found incomplete what there is of it, with null for each element yet to come, valid
/// until the next call of that or of `chiredis_reader_feed`; null when there is nothing of it.
redisReply *chiredis_reader_beginning(const chiredis_reader *reader);

/// What is wrong with the bytes.
const char *chiredis_reader_error(const chiredis_reader *reader);

#endif
