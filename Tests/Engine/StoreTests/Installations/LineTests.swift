import Model
import Testing

@testable import Store

@Suite struct LineTests {
  private func binding(_ text: String) -> (Network, UInt64, Int64, String)? {
    Array(text.utf8).withUnsafeBytes { bytes in
      BindingLine(bytes).map {
        ($0.network, $0.generation, $0.updatedAtMs, String(decoding: $0.token, as: UTF8.self))
      }
    }
  }

  @Test func `a binding line gives its fields`() throws {
    let line = try #require(binding("fcm\tdevelopment\t7\t1790000000000\ta:b"))
    #expect(line == (.fcm, 7, 1_790_000_000_000, "a:b"))
  }

  @Test(arguments: [
    "", "apns", "apns\tproduction\t1\t2", "apns\tproduction\t1\t2\t", "pager\tproduction\t1\t2\tt",
    "apns\tstaging\t1\t2\tt", "apns\tproduction\t-1\t2\tt", "apns\tproduction\t\t2\tt",
    "apns\tproduction\t99999999999999999999\t2\tt", "apns\tproduction\t1\t9999999999999999999\tt",
  ])
  func `a malformed binding line is none`(text: String) {
    #expect(binding(text) == nil)
  }

  @Test func `malformed lines between good ones are passed over`() {
    let text = "apns\tproduction\t1\t2\taa\nrubbish\n\nfcm\tdevelopment\t3\t4\tbb\n"
    let tokens = Array(text.utf8).withUnsafeBytes { bytes in
      BindingLines(bytes).map { String(decoding: $0.token, as: UTF8.self) }
    }
    #expect(tokens == ["aa", "bb"])
  }

  @Test func `a residual line comes back as it was written`() throws {
    var segment: [UInt8] = []
    let user = Array("ünser".utf8)
    let token = Array("abc:def".utf8)
    user.withUnsafeBytes { user in
      token.withUnsafeBytes { token in
        InstallationLine.append(
          network: .fcm, environment: .development, token: token, user: user, generation: 12,
          attempt: 3, badge: 0, to: &segment)
        InstallationLine.append(
          network: .apns, environment: .production, token: token, user: user, generation: 1,
          attempt: 1, badge: 7, to: &segment)
      }
    }
    InstallationLine.append(DeviceToken(stored: "00ff", network: .apns), to: &segment)
    #expect(
      String(decoding: segment, as: UTF8.self)
        == "fcm\tdevelopment\tabc:def\tünser\t12\t3\n"
        + "apns\tproduction\tabc:def\tünser\t1\t1\t7\napns\t\t00ff\t\t\t0\n")
    try segment.withUnsafeBytes { bytes in
      let lines = SegmentLines(bytes).compactMap { InstallationLine($0) }
      try #require(lines.count == 3)
      #expect(lines[0].network == .fcm && lines[0].environment == .development)
      #expect(lines[0].token.elementsEqual(token) && lines[0].user.elementsEqual(user))
      #expect(lines[0].generation == 12 && lines[0].attempt == 3 && lines[0].badge == 0)
      #expect(lines[1].attempt == 1 && lines[1].badge == 7)
      #expect(lines[2].environment == nil && lines[2].generation == nil && lines[2].user.isEmpty)
    }
  }

  @Test(arguments: [
    "", "apns\tproduction\tt\tu\t1", "apns\tproduction\t\tu\t1\t0", "apns\tmoon\tt\tu\t1\t0",
    "apns\tproduction\tt\tu\tx\t0", "apns\tproduction\tt\tu\t1\tx",
    "apns\tproduction\tt\tu\t1\t0\tmore", "apns\tproduction\tt\tu\t1\t0\t1\tmore",
    "apns\tproduction\tt\tu\t1\t0\t99999999999",
  ])
  func `a malformed installation line is none`(text: String) {
    let isNone = Array(text.utf8).withUnsafeBytes { InstallationLine($0) == nil }
    #expect(isNone)
  }

  @Test func `user lines are read with and without a final line break`() {
    for text in ["u1\nu2\n", "u1\nu2", "\nu1\n\nu2\n"] {
      let users = Array(text.utf8).withUnsafeBytes { bytes in
        SegmentLines(bytes).map { String(decoding: $0, as: UTF8.self) }
      }
      #expect(users == ["u1", "u2"])
    }
  }

  @Test func `a bitmap knows its lines`() {
    var done = DoneBitmap()
    for line in [0, 9, 255] { done.insert(line) }
    #expect(done.count == 3)
    #expect(done.bytes[0] == 0x80)
    #expect((0..<300).filter { done.contains($0) } == [0, 9, 255])
  }

  @Test func `minutes are named in UTC`() {
    #expect(Minute.name(epochSeconds: 0) == "197001010000")
    #expect(Minute.name(epochSeconds: 1_709_164_799) == "202402282359")
    #expect(Minute.name(epochSeconds: 1_709_164_800) == "202402290000")
  }
}
