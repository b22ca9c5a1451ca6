/// How metrics are written for those who read them.
package enum MetricsFormat: String, Sendable, CaseIterable {
  /// The text format 0.0.4 of Prometheus: https://prometheus.io/docs/instrumenting/exposition_formats/
  case prometheus
  /// OpenMetrics 1.0.0: https://prometheus.io/docs/specs/om/open_metrics_spec/
  case openMetrics = "openmetrics"

  /// The type of an HTTP answer that carries it.
  package var contentType: String {
    switch self {
    case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
    case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
    }
  }

  /// Returns the metrics as text. A metric without samples is left out.
  package func text(_ families: [MetricFamily]) -> String { lines(families) + end }

  /// Returns the metrics of the fleet as text, and those of something else behind them.
  package func text<Name: MetricName>(
    _ families: [MetricFamily], and others: [NamedMetricFamily<Name>]
  ) -> String {
    lines(families) + lines(others) + end
  }

  private var end: String { self == .openMetrics ? "# EOF\n" : "" }

  private func lines<Name: MetricName>(_ families: [NamedMetricFamily<Name>]) -> String {
    var text = ""
    for family in families where !family.samples.isEmpty {
      let name = named(family.metric)
      text += "# HELP \(name) \(helpText(family.metric.help))\n"
      text += "# TYPE \(name) \(family.metric.kind.rawValue)\n"
      for sample in family.samples {
        text += family.metric.rawValue + sample.suffix
        if !sample.labels.isEmpty {
          let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }
          text += "{" + labels.joined(separator: ",") + "}"
        }
        text += " \(sample.value)\n"
      }
    }
    return text
  }

  /// OpenMetrics names a counter without the end of its sample's name.
  private func named(_ metric: some MetricName) -> String {
    guard self == .openMetrics, metric.kind == .counter else { return metric.rawValue }
    return String(metric.rawValue.dropLast("_total".count))
  }

  private func helpText(_ help: String) -> String {
    self == .openMetrics
      ? Self.escaped(help)
      : help.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
  }

  /// A text within quotes: a backslash, a quote and the end of a line would end it.
  static func escaped(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == 0x5C || $0 == 0x22 || $0 == 0x0A }) else { return text }
    return text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      .replacing("\n", with: "\\n")
  }
}
