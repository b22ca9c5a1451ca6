import HTTP2
import Testing

@testable import Worker

@Suite("Ends of connections in the log")
struct ConnectionEndTests {
  @Test("the reason of a GOAWAY is logged, and no token that its debug data echoes")
  func goAway() {
    let plain = ConnectionEnd.goAway(errorCode: 0, debugData: #"{"reason":"Shutdown"}"#)
    #expect(plain.logText == #"GOAWAY 0: {"reason":"Shutdown"}"#)
    let token = "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad"
    let jwt =
      "eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyMyJ9.eyJpc3MiOiJERUYxMjMifQ.c2lnbmF0dXJlc2lnbmF0dXJl"
    let leaky = ConnectionEnd.goAway(
      errorCode: 1, debugData: "path /3/device/\(token) bearer \(jwt)")
    #expect(leaky.logText == "GOAWAY 1: path […] bearer […]")
    let violation = ConnectionEnd.protocolViolation("header \(token)")
    #expect(violation.logText == "HTTP/2 violation: header […]")
  }
}
