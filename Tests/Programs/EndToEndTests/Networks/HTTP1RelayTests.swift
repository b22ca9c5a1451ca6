import LocalServices
import Model
import PushpoolConfiguration
import Reactor
import Synchronization
import Testing
import TestSupport

/// A relay before JPush that speaks HTTP/1.1 only.
@Suite struct HTTP1RelayTests {
  @Test("JPush's pushes go through a relay of HTTP/1.1, each device once")
  func delivers() async throws {
    let certificates = try TestCertificates()
    let bodies = Mutex<[String]>([])
    try await TestLane.run { lane in
      let relay = try HTTP1Server(
        loop: lane.loop, tls: try certificates.serverContext(alpn: ["http/1.1"])
      ) { request in
        bodies.withLock { $0.append(request.body) }
        return HTTP1Server.response(body: #"{"sendno": "0", "msg_id": "1"}"#)
      }
      defer { relay.close() }
      let endpoint = try ServiceURL("https://localhost:\(relay.port)")
      try await PushStage.with(
        endpoints: PushStage.Endpoints(hasJPush: true),
        configure: {
          $0.apps[0].jpush?.access.endpoint = endpoint
          $0.apps[0].jpush?.access.caFile = certificates.authority.certificateFile
        }
      ) { stage in
        let client = stage.client
        try await client.install(try Devices.jpush(0..<1_500))
        try await stage.withWorkers { _ in
          _ = try await client.enqueue(Devices.job("sale", 0..<1_500))
          let record = try await client.finished("sale")
          #expect(record.counts.accepted == 1_500)
          #expect(record.counts.retries == 0)
          #expect(record.isBalanced)
        }
      }
    }
    let all = bodies.withLock { $0.joined() }
    for number in [0, 700, 1_499] {
      #expect(all.ranges(of: "\"140fe1da0\(number)\"").count == 1)
    }
  }
}
