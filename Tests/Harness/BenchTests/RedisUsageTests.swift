import Bench
import Testing

@Suite struct RedisUsageTests {
  @Test("Redis commands are all, and those that only clients send")
  func redis() {
    let info = """
      # Stats\r
      total_connections_received:4\r
      total_commands_processed:1234\r
      # CPU\r
      used_cpu_sys:1.500000\r
      used_cpu_user:2.250000\r
      used_cpu_sys_children:7.000000\r
      # Commandstats\r
      cmdstat_fcall:calls=90,usec=9,usec_per_call=1.00,rejected_calls=0,failed_calls=0\r
      cmdstat_fcall_ro:calls=10,usec=3,usec_per_call=1.00,rejected_calls=0,failed_calls=0\r
      cmdstat_hincrby:calls=900,usec=9,usec_per_call=1.00,rejected_calls=0,failed_calls=0\r
      cmdstat_mget:calls=34,usec=9,usec_per_call=1.00,rejected_calls=0,failed_calls=0\r

      """
    var usage = RedisUsage(commands: 1_234, clientCommands: 134, functionMicroseconds: 12)
    usage.cpuMicroseconds = 3_750_000
    #expect(RedisUsage(info: info) == usage)
    #expect(RedisUsage(info: "# Server\r\nredis_version:7.0.15\r\n") == nil)
    #expect(RedisUsage.usedMemory(info: "# Memory\r\nused_memory:1048576\r\n") == 1_048_576)
    #expect(RedisUsage.usedMemory(info: "# Memory\r\nused_memory_rss:9\r\n") == nil)
  }
}
