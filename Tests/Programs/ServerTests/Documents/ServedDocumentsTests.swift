import Foundation
import Model
import PushpoolConfiguration
import TestSupport
import Testing

@testable import Operations
@testable import Server

/// What documents and the files of deploy/ say of the server is what it does.
@Suite struct ServedDocumentsTests {
  private static let page = "docs/reference/http-api.md"

  private static let routes =
    InstallationRoutes.all + UserRoutes.all + TopicRoutes.all + JobRoutes.all + PreviewRoutes.all
    + TraceRoutes.all + DeadLetterRoutes.all + SwitchRoutes.all + FleetRoutes.all + ActRoutes.all
    + AppRoutes.all

  /// The path as the page writes it: it says once what stands in front of the routes of an app.
  private static func written(_ pattern: PathPattern) -> String {
    var path = pattern.text
    if let action = pattern.action { path.removeLast(action.count + 1) }
    if let letters = path.range(of: "/dead-letters") { return "…" + path[letters.lowerBound...] }
    if let thing = path.range(of: "{app}/switches/"), path.hasSuffix("}") {
      return String(path[thing.upperBound...])
    }
    return path.replacingOccurrences(of: "/v1/apps/{app}", with: "{app}")
  }

  @Test("the page of the API names each route and each action", arguments: routes.map(\.pattern))
  func routesAreDocumented(pattern: PathPattern) {
    let text = Document.text(Self.page)
    #expect(text.contains(Self.written(pattern)), "\(pattern.text)")
    if let action = pattern.action {
      #expect(text.contains(":\(action)`") || text.contains(":\(action)?"))
    }
  }

  @Test("the page of the API tells the limits")
  func limits() throws {
    let text = Document.text(Self.page)
    let begin = try #require(text.range(of: "\n## Limits\n"))
    let limits = text[begin.upperBound...]
    func kib(_ bytes: Int) -> String { "\(bytes / 1_024) KiB" }
    func mib(_ bytes: Int) -> String { "\(bytes >> 20) MiB" }
    for row in [
      "| all header fields | \(kib(ServerLimits.headerBytesMax)), \(ServerLimits.headerFieldsMax) fields |",
      "| the path with the query | \(kib(ServerLimits.pathBytesMax)); \(ServerLimits.queryFieldsMax) fields of a query |",
      "| the body of an installation | \(kib(Limits.installationBytesMax)) |",
      "| the body of an app | \(kib(ConfigurationLimits.appDocumentBytesMax)) |",
      "| the body of a job, or of a preview | \(mib(ServerLimits.jobBytesMax)) |",
      "| the body of a batch | \(mib(ServerLimits.batchBytesMax)), 10,000 lines |",
      "| bodies over \(kib(ServerLimits.smallBodyBytesMax)) that are read at a time | 1 |",
      "| lists and searches of one key; changes of jobs likewise | \(ServerLimits.searchesMax) at a time. "
        + "\(ServerLimits.waitingSearchesMax) more wait, and 429 beyond |",
      "| the body of an act: a pace, a start, a reason, a filter | \(kib(ServerLimits.controlBytesMax)) |",
      "| all bodies in memory at a time | \(mib(ServerLimits.bodiesBytesMax)), and "
        + "\(mib(ServerLimits.callersBodiesBytesMax)) of one caller; 503 beyond |",
      "| until the end of the header fields | \(ServerLimits.headerSeconds) s |",
      "| a body | \(ServerLimits.bodySeconds) s; one that takes longer must bring "
        + "\(kib(ServerLimits.bodyBytesPerSecondMin)) a second |",
      "| between two requests of a connection | \(ServerLimits.idleSeconds) s |",
      "| while a client takes nothing of an answer | \(ServerLimits.stuckSeconds) s |",
      "| a page of a list | \(ServerLimits.listMax) |",
      "| device tokens of a preview | \(ServerLimits.previewedTokensMax) |",
      "in \(ServerLimits.changeSeconds) s |",
      "| streams of events | \(ServerLimits.feedListenersMax) |",
    ] {
      #expect(limits.contains(row), "\(row)")
    }
    #expect(ServerLimits.batchLinesMax == 10_000 && ServerLimits.connectionsMax == 10_000)
    #expect(ServerLimits.changedLettersMax == 10_000 && ServerLimits.chartMinutesMax == 1_440)
  }

  @Test("the guide shows the proxies' files as they are tried")
  func proxies() {
    let guide = Document.text("docs/guides/serving.md")
    for (language, file) in [("nginx", "nginx.conf"), ("haproxy", "haproxy.cfg")] {
      let text = Document.text("deploy/proxies/\(file)")
      #expect(guide.contains("```\(language)\n\(text)```\n"), "\(file)")
    }
  }

  @Test("nginx takes what the server takes, and keeps connections for less long")
  func proxyLimits() throws {
    let text = Document.text("deploy/proxies/nginx.conf")
    let largest = max(
      ServerLimits.jobBytesMax, ServerLimits.batchBytesMax, ServerLimits.bodyBytesMax)
    #expect(text.contains("client_max_body_size  \(largest >> 20)m;"))
    let words = text.split { $0 == " " || $0 == "\n" }
    let position = try #require(words.firstIndex(of: "keepalive_timeout"))
    let seconds = try #require(Int(words[position + 1].prefix { $0.isNumber }))
    #expect(seconds < ServerLimits.idleSeconds)
  }

  private static func serverMetrics(in file: String) -> Set<String> {
    let words = Document.text(file).split {
      !($0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber))
    }
    return Set(words.map(String.init).filter { $0.hasPrefix("pushpool_server_") })
  }

  @Test("rules and dashboards name the metrics of a server that there are, and show each")
  func metrics() {
    let samples = Set(ServerMetric.allCases.flatMap(\.sampleNames))
    let board = Self.serverMetrics(in: "deploy/grafana/pushpool.json")
    for file in ["deploy/prometheus/alerts.yaml", "deploy/prometheus/alerts_test.yaml"] {
      let named = Self.serverMetrics(in: file)
      #expect(!named.isEmpty && named.subtracting(samples) == [], "\(file)")
    }
    #expect(board.subtracting(samples) == [])
    #expect(ServerMetric.allCases.filter { board.isDisjoint(with: $0.sampleNames) } == [])
  }
}
