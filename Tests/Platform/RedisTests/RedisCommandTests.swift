import Testing

@testable import Redis

@Suite struct RedisCommandTests {
  @Test func `a command is a RESP array of its arguments`() {
    var command = RedisCommand("SET", "key")
    command.append([0, 13, 10])
    #expect(command.count == 3)
    #expect(command.body == Array("$3\r\nSET\r\n$3\r\nkey\r\n$3\r\n\0\r\n\r\n".utf8))
  }

  @Test(arguments: [0, 7, 10, -1, Int.max, Int.min])
  func `numbers are written in decimal`(number: Int) {
    var command = RedisCommand()
    command.append(number)
    let text = String(number)
    #expect(command.body == Array("$\(text.utf8.count)\r\n\(text)\r\n".utf8))
  }

  @Test func `parts make one argument`() {
    var command = RedisCommand()
    let parts: [UInt8] = Array("user:u1".utf8)
    parts.withUnsafeBytes { bytes in
      command.append(
        UnsafeRawBufferPointer(rebasing: bytes[..<5]),
        then: UnsafeRawBufferPointer(rebasing: bytes[5...]))
    }
    #expect(command.count == 1)
    #expect(command.body == Array("$7\r\nuser:u1\r\n".utf8))
  }

  @Test func `an emptied command can be used again`() {
    var command = RedisCommand("GET", "a")
    command.removeAll()
    command.append("PING")
    #expect(command.count == 1)
    #expect(command.body == Array("$4\r\nPING\r\n".utf8))
  }
}
