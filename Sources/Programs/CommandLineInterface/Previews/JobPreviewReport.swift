internal import Model
internal import Operations
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
