import Redis
import Testing

@testable import Store

/// A fault put into the function library, which the property test must see; otherwise it proves nothing.
struct LibraryFault: Sendable, CustomTestStringConvertible {
  let name: String
  /// What stands in Functions/*.lua, exactly once.
  let original: String
  let replacement: String

  var testDescription: String { name }

  /// The library with the fault in it, under the name that the store calls.
  func library() throws -> FunctionLibrary {
    let sound = StoreModel.library
    let parts = sound.source.split(separator: original, omittingEmptySubsequences: false)
    try #require(
      parts.count == 2, "\"\(name)\" no longer applies: \(parts.count - 1) places have its text")
    return FunctionLibrary(
      name: "pushpool", version: sound.version, template: parts.joined(separator: replacement))
  }

  static let all = [
    LibraryFault(
      name: "settle asks nobody who owns the chunk",
      original: "if not owned(stream, entry, consumer) then",
      replacement: "if false then"),
    LibraryFault(
      name: "settle counts again what a reclaimed chunk's other owner told",
      original: "if told ~= '-' and told ~= known then return {'STALE', 0, 0, 0, 0} end",
      replacement: ""),
    LibraryFault(
      name: "settle counts a repetition",
      original: "if not is_final and known == done then", replacement: "if false then"),
    LibraryFault(
      name: "what is counted twice in a minute is in the totals once",
      original: "if n > 0 and redis.pcall('HINCRBY', totals, name, by) == n then",
      replacement: "if n > 0 and redis.pcall('HSET', totals, name, by) == 1 then"),
    LibraryFault(
      name: "settle keeps no checkpoint",
      original:
        "redis.call('SET', KEY.done(p, segment, source), done)",
      replacement: ""),
    LibraryFault(
      name: "settle forgets the devices that are left of a user",
      original: "if open then keep_open(p, c, open) end", replacement: ""),
    LibraryFault(
      name: "settle does not renew the lease",
      original: """
        done)
            redis.call('XCLAIM', stream, GROUP, consumer, 0, entry, 'JUSTID')
        """,
      replacement: "done)"),
    LibraryFault(
      name: "heartbeat renews no lease",
      original:
        "redis.call('XCLAIM', KEY[kind](p, priority), GROUP, consumer, 0, unpack(words))",
      replacement: ""),
    LibraryFault(
      name: "heartbeat renews what belongs to another",
      original: """
        if has[priority](entry) then
              table.insert(renewed
        """,
      replacement: """
        if true then
              table.insert(renewed
        """),
    LibraryFault(
      name: "hand_back counts a crash",
      original: """
        c.crashes = c.crashes + deliveries - 1
              Fairness.drop_chunk
        """,
      replacement: """
        c.crashes = c.crashes + deliveries
              Fairness.drop_chunk
        """),
    LibraryFault(
      name: "hand_back takes from any owner",
      original: "local items = deliveries and redis.call('XRANGE', stream, args[i + 1]",
      replacement:
        "deliveries = deliveries or 1; local items = redis.call('XRANGE', stream, args[i + 1]"
    ),
    LibraryFault(
      name: "promote loses a member",
      original: "local is_waiting, dropped = Chunks.route(",
      replacement: """
        if string.find(member, '"2"', 1, true) then return end
            local is_waiting, dropped = Chunks.route(
        """),
    LibraryFault(
      name: "admit leaves its entry",
      original: "Chunks.keep_unstarted(p, app, id)\n  Fairness.drop_job(p, priority, entry)",
      replacement: "Chunks.keep_unstarted(p, app, id)"),
    LibraryFault(
      name: "upload asks nobody who owns the entry",
      original: """
        if not Fairness.owned_job(p, priority, entry, args[1]) then return 'STALE' end
          redis.call('SET', KEY.segment(
        """,
      replacement: "redis.call('SET', KEY.segment("),
    LibraryFault(
      name: "a duplicate leaves what was uploaded of it",
      original: "if record[2] ~= source then drop_uploaded(p, source) end", replacement: ""),
    LibraryFault(
      name: "a refused job leaves no record",
      original: "if letter then Refusals.record(p, now, told, letter, args[9]) end",
      replacement: ""),
    LibraryFault(
      name: "a refused job takes the record of another of its id",
      original: "if found.err or Names.standing(p, found, '', source) ~= 'NEW' then return end",
      replacement: ""),
    LibraryFault(
      name: "a job is given a name though its entry is gone",
      original:
        "if not has_entry(KEY.jobs(p, priority), entry) then return 'GONE' end",
      replacement: ""),
    LibraryFault(
      name: "a job that was stopped while it waited starts all the same",
      original:
        "if is_named and (record[1] == 'paused' or record[1] == 'cancelled') then state = record[1] end",
      replacement: ""),
    LibraryFault(
      name: "uninstall asks nobody whose token it is",
      original: "if not user or owner ~= '' and owner ~= user then",
      replacement: "if not user then"),
    LibraryFault(
      name: "a device that was uninstalled without its record comes back",
      original: "if owner or is_unbound(p, network, app, token, generation) then",
      replacement: "if owner then"),
    LibraryFault(
      name: "a former owner keeps the line of a device that is another's",
      original: "if owner or is_unbound(p, network, app, token, generation) then",
      replacement:
        "if owner then return true end\n  if is_unbound(p, network, app, token, generation) then"
    ),
    LibraryFault(
      name: "a verdict removes a token that was installed anew",
      original: "if r[1] ~= user or r[2] ~= generation then return 'stale' end",
      replacement: "if r[1] ~= user then return 'stale' end"),
    LibraryFault(
      name: "a 410 removes a token that was installed after it",
      original:
        "if since ~= '' and (not updated or tonumber(since) < updated) then return 'stale' end",
      replacement: ""),
    LibraryFault(
      name: "a token that moves stays with its former owner, too",
      original: "unbind(p, app, old[1], old_lines, old[6], allowance)", replacement: ""),
    LibraryFault(
      name: "who has no binding any more stays in the index of all",
      original: "pcall(Index.remove, p, app, Index.ALL, user)", replacement: ""),
    LibraryFault(
      name: "a channel keeps who has left it",
      original:
        "pcall(Index.remove, p, app, Index.of_channel(name), user)",
      replacement: ""),
    LibraryFault(
      name: "a user's first binding brings nobody into the index of all",
      original: "if former == '' then Index.add(p, app, Index.ALL, user) end", replacement: ""),
    LibraryFault(
      name: "a user who has as many installations as one may have gets one more",
      original: "lines, evicted = evict(p, app, user, lines, n, token, joined, allowance)",
      replacement: "evicted = 0"),
    LibraryFault(
      name: "an eviction leaves the record of the binding",
      original: "redis.call('DEL', key)\n    lines, n = string.sub(",
      replacement: "lines, n = string.sub("),
    LibraryFault(
      name: "a job that is told another start keeps the times of its chunks",
      original: "redis.call('ZADD', delayed, 'XX', text(start), member)", replacement: ""),
    LibraryFault(
      name: "a job that has started is told another start",
      original: "if r[4] or r[1] ~= 'scheduled' and r[1] ~= 'paused' then return 'STARTED' end",
      replacement: ""),
    LibraryFault(
      name: "cancel leaves the name of a lost job taken",
      original: "if is_named and Names.is_lost(p, r[4]) then", replacement: "if false then"),
    LibraryFault(
      name: "cancel forgets the chunks that a pause parked",
      original: "bytes = bytes + close_as(p, unpack_chunk(member), 'skipped', now)",
      replacement: "bytes = bytes + 1"),
    LibraryFault(
      name: "a finished chunk stays unfinished",
      original: "redis.call('HDEL', KEY.unfinished(p, c.source), c.segment)\n  -- A record",
      replacement: "-- A record"),
    LibraryFault(
      name: "a finished chunk leaves its bitmap",
      original: "redis.call('UNLINK', segment, KEY.done(p, c.segment, c.source), KEY",
      replacement: "redis.call('UNLINK', segment, KEY"),
    LibraryFault(
      name: "a job that lost two workers is taken over among others",
      original: "not (losses > 1 or is_suspect) and taking.has_room()",
      replacement: "taking.has_room()"),
    LibraryFault(
      name: "what was taken over counts no delivery",
      original: "'RETRYCOUNT', losses + 1)\n    if item then take(item, losses + 1, losses) end",
      replacement: "'RETRYCOUNT', losses)\n    if item then take(item, losses, losses) end"),
    LibraryFault(
      name: "a retried dead letter forgets what was done",
      original:
        "if f.done ~= '' then redis.call('SET', KEY.done(p, segment, f.source), f.done) end",
      replacement: ""),
    LibraryFault(
      name: "an invalid token that was kept is counted as uninstalled",
      original: "fate == 'r' and 'uninstalled' or 'rejected'",
      replacement: "'uninstalled'"),
  ]
}
