import Foundation
import PushpoolConfiguration
import TestSupport
import Testing

/// The configurations of deploy/ are right, and listen where the files beside them say.
@Suite struct DeployedConfigurationTests {
  private static func parse(_ yaml: String) throws -> Configuration {
    try Configuration.parse(yaml, file: "/etc/pushpool/pushpool.yaml")
  }

  /// What stands in the ConfigMap, without its indent.
  private static func mapped() throws -> String {
    let text = Document.text("deploy/kubernetes.yaml")
    let begin = try #require(text.range(of: "\n  pushpool.yaml: |\n"))
    let lines = text[begin.upperBound...].split(separator: "\n", omittingEmptySubsequences: false)
    return lines.prefix { $0.hasPrefix("    ") || $0.isEmpty }.map { String($0.dropFirst(4)) }
      .joined(separator: "\n")
  }

  @Test("the file to start from is right, and keeps the server on this machine")
  func first() throws {
    let configuration = try Self.parse(Document.text("deploy/pushpool.yaml"))
    #expect(configuration.apps.map(\.id) == ["shop"])
    #expect(configuration.serve.listen == ServeConfiguration.listenDefault)
    #expect(configuration.serve.metricsListen == HostAndPort(host: "127.0.0.1", port: 9464))
    #expect(configuration.serve.trustedProxies == ["127.0.0.1"])
  }

  @Test("compose publishes the port that its configuration names, and Prometheus scrapes the other")
  func compose() throws {
    let configuration = try Self.parse(Document.text("deploy/compose/pushpool.yaml"))
    let port = configuration.serve.listen.port
    let metrics = try #require(configuration.serve.metricsListen)
    #expect(configuration.serve.listen.host == "0.0.0.0" && metrics.host == "0.0.0.0")
    let text = Document.text("deploy/compose.yaml")
    #expect(
      text.contains("[\"127.0.0.1:\(port):\(port)\"]")
        && text.contains("/dev/tcp/127.0.0.1/\(port)"))
    #expect(Document.text("deploy/prometheus/compose.yaml").contains("[\"serve:\(metrics.port)\"]"))
    #expect(
      Document.text("deploy/prometheus/prometheus.yaml").contains("[\"127.0.0.1:\(metrics.port)\"]")
    )
  }

  @Test("Kubernetes has the ports and the files that its configuration names")
  func kubernetes() throws {
    let configuration = try Self.parse(try Self.mapped())
    let text = Document.text("deploy/kubernetes.yaml")
    let metrics = try #require(configuration.serve.metricsListen)
    #expect(text.contains("{name: http, containerPort: \(configuration.serve.listen.port)}"))
    #expect(text.contains("{name: metrics, containerPort: \(metrics.port)}"))
    #expect(text.contains("prometheus.io/port: \"\(metrics.port)\""))
    // The password of each user is mounted under the same name.
    #expect(configuration.files.contains { $0.path == "/etc/pushpool/redis/password" })
    for user in ["worker", "server"] {
      #expect(text.contains("items: [{key: \(user), path: password}]"))
      #expect(text.contains("redis://pushpool-\(user):@redis:6379/0"))
    }
    // Kubernetes makes variables of its services that look like settings.
    #expect(text.components(separatedBy: "enableServiceLinks: false").count == 3)
  }
}
