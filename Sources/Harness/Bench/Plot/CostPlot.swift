/// Bars of CPU time per push, the worker's above the yardstick's.
package enum CostPlot {
  private static let width = 760
  private static let labelWidth = 130.0
  private static let valueWidth = 170.0
  private static let barHeight = 13.0
  private static let rowHeight = 38.0
  private static let top = 62.0
  private static let ink = "#1f2937"
  private static let quiet = "#6b7280"
  private static let workerColor = "#2563eb"
  private static let h2loadColor = "#cbd5e1"

  /// Rows without a CPU time are left out.
  package static func svg(_ results: [ScenarioResult]) -> String {
    let rows = results.filter { $0.workerMicroseconds?.isFinite == true }
    let most =
      rows.flatMap { [$0.workerMicroseconds ?? 0, $0.h2loadMicroseconds ?? 0] }.max() ?? 1
    let scale = (Double(width) - labelWidth - valueWidth) / most
    var document = SVGDocument(width: width)
    document.addText(
      "CPU time per push, µs: end to end by a worker, and for the bare request by h2load",
      x: 16, y: 26, size: 15, color: ink)
    addLegend(to: &document)
    for (index, row) in rows.enumerated() {
      let y = top + Double(index) * rowHeight
      document.addText(
        row.name, x: labelWidth - 8, y: y + barHeight + 4, size: 13, anchor: .end, color: ink)
      add(row.workerMicroseconds, workerColor, y: y, scale, ratio: row.ratio, to: &document)
      add(row.h2loadMicroseconds, h2loadColor, y: y + barHeight + 1, scale, to: &document)
    }
    return document.text
  }

  private static func addLegend(to document: inout SVGDocument) {
    for (text, color, x) in [("worker", workerColor, 16.0), ("h2load", h2loadColor, 96.0)] {
      document.addRectangle(x: x, y: 36, width: 12, height: 12, color: color)
      document.addText(text, x: x + 18, y: 46, size: 12, color: quiet)
    }
  }

  private static func add(
    _ value: Double?, _ color: String, y: Double, _ scale: Double, ratio: Double? = nil,
    to document: inout SVGDocument
  ) {
    guard let value, value.isFinite else { return }
    document.addRectangle(
      x: labelWidth, y: y, width: value * scale, height: barHeight, color: color)
    let ratioText = ratio.map { "  (\(Figure.text($0, decimals: 2)) x)" } ?? ""
    document.addText(
      Figure.text(value, decimals: 1) + ratioText, x: labelWidth + value * scale + 6,
      y: y + barHeight - 2, size: 11, color: quiet)
  }
}
