import Bench
import Glibc
import Testing

@Suite struct UsageTests {
  @Test("user and system time are the 14th and 15th field, whatever the process calls itself")
  func cpu() {
    let stat = "42 (a ) name) S 1 42 42 0 -1 4194560 1 2 3 4 120 34 5 6 20 0 3 0 100 1 2"
    #expect(ProcessUsage.cpuTicks(stat: stat) == 154)
    #expect(ProcessUsage.cpuTicks(stat: "42 (short) S 1") == nil)
    #expect(ProcessUsage.cpuTicks(stat: "") == nil)
  }

  @Test("resident memory is the line VmRSS, the largest ever VmHWM")
  func memory() {
    let status = "Name:\tworker\nVmPeak:\t  900000 kB\nVmHWM:\t   34567 kB\nVmRSS:\t   30000 kB\n"
    #expect(ProcessUsage.kibibytes("VmHWM:", status: status) == 34_567)
    #expect(ProcessUsage.kibibytes("VmRSS:", status: status) == 30_000)
    #expect(ProcessUsage.kibibytes("VmHWM:", status: "Name:\tworker\n") == nil)
  }

  @Test("this process has used time and memory, and one that does not exist cannot be asked")
  func live() throws {
    let usage = try ProcessUsage(pid: getpid())
    #expect(usage.residentBytesMax > 1_048_576)
    #expect(throws: BenchError.self) { try ProcessUsage(pid: .max) }
  }

  @Test("Redis commands are all, and those that only clients send")
  func redis() {
    let info = """
      # Stats\r
      total_connections_received:4\r
      total_commands_processed:1234\r
      # Commandstats\r
      cmdstat_fcall:calls=100,usec=9,usec_per_call=1.00,rejected_calls=0,failed_calls=0\r
      cmdstat_hincrby:calls=900,usec=9,usec_per_call=1.00,rejected_calls=0,failed_calls=0\r
      cmdstat_mget:calls=34,usec=9,usec_per_call=1.00,rejected_calls=0,failed_calls=0\r

      """
    #expect(RedisUsage(info: info) == RedisUsage(commands: 1_234, clientCommands: 134))
    #expect(RedisUsage(info: "# Server\r\nredis_version:7.0.15\r\n") == nil)
    #expect(RedisUsage.usedMemory(info: "# Memory\r\nused_memory:1048576\r\n") == 1_048_576)
    #expect(RedisUsage.usedMemory(info: "# Memory\r\nused_memory_rss:9\r\n") == nil)
  }
}
