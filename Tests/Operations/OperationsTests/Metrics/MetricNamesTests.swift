import LocalServices
import Model
import Testing

@testable import Operations

/// Rules, dashboards and documents name the metrics that there are, and lead to paragraphs that there are.
@Suite struct MetricNamesTests {
  private static let rules = "deploy/prometheus/alerts.yaml"
  private static let board = "deploy/grafana/pushpool.json"

  private static func path(_ file: String) -> String {
    "/" + #filePath.split(separator: "/").dropLast(5).joined(separator: "/") + "/" + file
  }

  private static func text(_ file: String) throws -> String {
    try #require(TextFile.read(path(file), bytesMax: 1 << 20), "there is no \(file)")
  }

  private static func names(in file: String) throws -> Set<String> {
    let words = try text(file).split { !($0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber)) }
    return Set(words.map(String.init).filter { $0.hasPrefix("pushpool_") })
  }

  private static let samples = Set(Metric.allCases.flatMap(\.sampleNames))

  @Test("the document explains each metric, and no other")
  func document() throws {
    // Those of a server have a test of their own (ServerMetricTests).
    let named = try Self.names(in: "docs/reference/metrics.md").filter {
      !$0.hasPrefix("pushpool_server_")
    }
    #expect(named == Set(Metric.allCases.map(\.rawValue)))
  }

  @Test(
    "what looks at metrics names those that there are",
    arguments: [
      rules, "deploy/prometheus/alerts_test.yaml", board, "deploy/keda/scaledobject.yaml",
      "deploy/keda/hpa.yaml",
    ])
  func used(file: String) throws {
    // Those of a server have a test of their own (ServedDocumentsTests).
    let named = try Self.names(in: file).filter { !$0.hasPrefix("pushpool_server_") }
    #expect(!named.isEmpty && named.subtracting(Self.samples) == [])
  }

  @Test("the dashboard shows every metric")
  func shown() throws {
    let named = try Self.names(in: Self.board)
    let missing = Metric.allCases.filter { named.isDisjoint(with: $0.sampleNames) }
    #expect(missing == [])
    #expect(throws: Never.self) { try JSONParser().parse(try Self.text(Self.board)) }
  }

  /// The anchors of a document's headings, as readers of Markdown make them.
  private static func anchors(_ file: String) throws -> Set<String> {
    Set(
      try text(file).split(separator: "\n").filter { $0.hasPrefix("#") }.map { line in
        let title = line.drop { $0 == "#" }.drop { $0 == " " }.lowercased()
        return String(
          title.map { $0 == " " ? "-" : $0 }
            .filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" })
      })
  }

  /// The alarms that a rule's line asks for.
  private static func kinds(in line: Substring) -> [String] {
    let parts = line.split(
      separator: "{kind=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return [] }
    let words = parts[1].drop { $0 == "~" }.dropFirst().prefix { $0 != "\"" }
    return words.split(separator: "|").map(String.init)
  }

  @Test("each rule says what is wrong, and leads to a paragraph that there is")
  func runbooks() throws {
    let lines = try Self.text(Self.rules).split(separator: "\n")
    func count(_ word: String) -> Int {
      lines.count { $0.drop { $0 == " " || $0 == "-" }.hasPrefix(word) }
    }
    #expect(count("alert: ") > 10)
    #expect(count("alert: ") == count("summary: ") && count("alert: ") == count("runbook_url: "))
    var asked: [String] = []
    for line in lines {
      if line.contains("alert: ") { asked = [] }
      asked += Self.kinds(in: line)
      guard line.contains(" runbook_url: "), !line.hasPrefix("#") else { continue }
      let url = line.split(separator: "\"")[1]
      let parts = url.split(separator: "#", maxSplits: 1).map(String.init)
      let known = try Self.anchors(parts[0])
      let all = parts[1] == "{{ $labels.kind }}" ? asked : [parts[1]]
      #expect(!all.isEmpty && Set(all).subtracting(known) == [], "\(url)")
    }
  }

  @Test("each kind of alarm is told by one rule")
  func alarms() throws {
    let asked = try Self.text(Self.rules).split(separator: "\n").flatMap(Self.kinds)
    // Nobody can write down that nothing can be written.
    let kinds = AlarmKind.allCases.filter { $0 != .refusesWrites }.map(\.rawValue)
    #expect(asked.sorted() == (kinds + ["other"]).sorted())
  }

  @Test("promtool takes the rules, and their tests hold", .enabled(if: Promtool.isInstalled))
  func promtool() async throws {
    for words in [
      ["check", "rules", Self.path(Self.rules)],
      ["test", "rules", Self.path("deploy/prometheus/alerts_test.yaml")],
      ["check", "config", Self.path("deploy/prometheus/prometheus.yaml")],
      ["check", "config", Self.path("deploy/prometheus/compose.yaml")],
    ] {
      let said = try await Promtool.run(words[0], words[1], words[2])
      #expect(said.contains("SUCCESS"), "\(words): \(said)")
    }
  }
}
