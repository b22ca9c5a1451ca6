import LocalServices
import Testing

@Suite("A free port")
struct FreePortTests {
  @Test("is none that the system gives to outgoing connections, and is another each time")
  func choice() throws {
    let range = try #require(
      TextFile.read("/proc/sys/net/ipv4/ip_local_port_range", bytesMax: 100))
    let bounds = range.split(whereSeparator: \.isWhitespace).compactMap { UInt16($0) }
    let outgoing = try #require(bounds.count == 2 ? bounds[0]...bounds[1] : nil)
    let ports = try (0..<50).map { _ in try FreePort.find() }
    // Where nearly all ports may be outgoing there is no other.
    if outgoing.lowerBound > 20_000 {
      #expect(!ports.contains { outgoing.contains($0) || outgoing.contains($0 + 10_000) })
    }
    #expect(Set(ports).count > 25)
  }
}
