internal import Operations
internal import ProgramSetup
internal import Typesetting

extension Diagnosis {
  /// A line for each finding, its remedy below it; and what to do first.
  func lines(on terminal: Terminal) -> [String] {
    let width = DoctorFinding.Severity.allCases.map(\.rawValue.count).max() ?? 0
    let indent = String(repeating: " ", count: width + 2)
    var lines: [String] = []
    for finding in findings {
      let word = finding.severity.rawValue
      let padded = word + String(repeating: " ", count: width - word.count)
      let shown = finding.severity.style.map { $0.apply(padded, on: terminal) } ?? padded
      lines.append("\(shown)  \(DisplayText.printable("\(finding.subject): \(finding.sentence)"))")
      if let remedy = finding.remedy {
        lines.append("\(indent)to do: \(DisplayText.printable(remedy))")
      }
    }
    lines.append("")
    guard let first else { return lines + ["all is well"] }
    lines.append(
      DisplayText.printable(
        "first: \(first.subject): \(first.remedy ?? first.sentence)"))
    return lines
  }
}

extension DoctorFinding.Severity {
  fileprivate var style: TextStyle? {
    switch self {
    case .good: nil
    case .note: .dim
    case .warning: .yellow
    case .error: .red
    }
  }
}
