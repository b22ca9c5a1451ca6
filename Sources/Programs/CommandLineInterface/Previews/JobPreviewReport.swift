internal import Model
internal import Operations
internal import ProgramSetup
internal import Providers
internal import Typesetting

/// The report on what a job would send, for a person or a program.
struct JobPreviewReport {
  let job: Job
  let preview: JobPreview

  func lines(on terminal: Terminal) -> [String] {
    var lines: [String] = []
    if preview.pushes.contains(where: { $0.isInAudience == false }) {
      lines += ["Not in the job's audience: this is what would be sent otherwise.", ""]
    }
    for push in preview.pushes {
      lines.append(TextStyle.bold.apply(push.target.heading, on: terminal))
      switch push.result {
      case .request(let request):
        lines += self.lines(of: request).map { $0.isEmpty ? "" : "  " + DisplayText.printable($0) }
      case .nothing(let cause):
        lines.append("  nothing is sent: " + DisplayText.printable(cause.sentence(push.target)))
      }
      lines.append("")
    }
    return lines.dropLast()
  }

  private func lines(of request: PreviewedRequest) -> [String] {
    var lines = ["\(request.method) \(request.url)"]
    lines += request.headers.map { "\($0.name): \($0.value)" }
    if request.hasCredentialHeader { lines.append("authorization: \(JobPreview.shownCredential)") }
    lines += [""] + request.bodyLines + [""]
    lines += request.sizes.map { size in
      "\(size.part): \(FigureText.count(size.bytes)) bytes, "
        + "\(FigureText.count(size.bytesMax)) are allowed"
    }
    if !request.hasCredentialHeader { lines.append("authorised by the TLS client certificate") }
    if request.devicesMax > 1 {
      lines.append("up to \(FigureText.count(request.devicesMax)) devices share a request")
    }
    return lines
  }

  func show(asJSON: Bool, on console: Console) {
    if asJSON { return console.print(json: preview.json(of: job)) }
    for line in lines(on: console.output) { console.print(line) }
  }
}

extension PreviewTarget {
  fileprivate var heading: String {
    "\(network.rawValue) \(environment.rawValue) \(shownToken)"
  }
}

extension PreviewedRequest {
  fileprivate var bodyLines: [String] {
    json?.indentedLines ?? [String(decoding: body, as: UTF8.self)]
  }
}

extension JSONValue {
  /// The lines of the value as people read it: a member or element a line, two spaces a level.
  var indentedLines: [String] {
    switch self {
    case .object(let object) where !object.isEmpty:
      let parts = object.members.map { member in
        var lines = member.value.indentedLines
        lines[0] = JSONValue.string(member.name).text() + ": " + lines[0]
        return lines
      }
      return Self.block("{", parts, "}")
    case .array(let items) where !items.isEmpty:
      return Self.block("[", items.map(\.indentedLines), "]")
    default: return [text()]
    }
  }

  private static func block(_ opening: String, _ parts: [[String]], _ closing: String) -> [String] {
    var lines = [opening]
    for (index, part) in parts.enumerated() {
      lines += part.map { "  " + $0 }
      if index < parts.count - 1 { lines[lines.count - 1] += "," }
    }
    return lines + [closing]
  }
}
