import Glibc
import LocalServices
import Testing

/// A worker in a Redis Cluster tells whether it can work, and why it cannot.
@Suite struct ClusterHealthTests {
  private static let prefix = "{pushpool}"

  private static func configuration(
    _ folder: TemporaryFolder, _ cluster: RedisCluster
  ) throws -> String {
    let account = try FCMServiceAccount(folder: folder.path, tokenURI: "https://localhost/token")
    let file = folder.file("pushpool.yaml")
    try PrivateFile.write(
      """
      redis: {url: "\(cluster.url)", prefix: "\(prefix)"}
      worker: {lanes: 1, lease_seconds: 1, drain_seconds: 1}
      apps:
        - id: shop
          fcm: {service_account_file: \(account.file)}

      """, to: file)
    return file
  }

  private static func waitForHealth(
    _ file: String, _ beginning: String, _ words: String = ""
  ) async throws {
    let deadline = ContinuousClock.now + .milliseconds(Pushpool.timeoutMs)
    var content = ""
    while !content.hasPrefix(beginning) || !content.contains(words) {
      try #require(
        ContinuousClock.now < deadline, "not \(beginning) with \(words), but: \(content)")
      try await ContinuousClock().sleep(for: .milliseconds(20))
      content = TextFile.read(file, bytesMax: 4_096) ?? ""
    }
  }

  @Test("it is not ready while its slot is being moved, and while nobody serves it, and says so")
  func tellsWhy() async throws {
    try await RedisCluster.with(.init(key: Self.prefix)) { cluster in
      let source = try #require(try await cluster.owner())
      let target = try #require(cluster.nodes.first { $0.port != source.port })
      let folder = try TemporaryFolder()
      let file = try Self.configuration(folder, cluster)
      let health = folder.file("health")
      let child = try Pushpool.start(["worker", "--config", file, "--health-file", health])
      func expectAway(_ words: String) async throws {
        try await Self.waitForHealth(health, "starting\n", words)
        let status = try await Pushpool.run("status", "--config", file)
        #expect(status.status == 69 && status.error.contains(words), "\(status.error)")
        #expect(!status.error.contains("start it"), "\(status.error)")
      }
      try await Self.waitForHealth(health, "ready\n")

      let move = try await SlotMove.begin(cluster, to: target)
      try await expectAway("moving our keys to another node (ASK)")
      try await move.moveAll(100)
      try await move.end()
      try await Self.waitForHealth(health, "ready\n")

      await target.kill9()
      try await expectAway("CLUSTERDOWN")
      child.signal(SIGTERM)
      #expect(try await Pushpool.finish(child).status == 0)
    }
  }
}
