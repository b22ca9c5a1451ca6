import Glibc
import LocalServices
import Testing

@Suite struct ProcessUsageTests {
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
    #expect(ProcessUsage.descriptors(of: getpid()) > 2)
    #expect(throws: LocalServiceError.self) { try ProcessUsage(pid: .max) }
    #expect(ProcessUsage.descriptors(of: .max) == 0)
  }
}
