internal import Model
internal import Operations
internal import Providers
internal import Typesetting

/// The report on what a job would send, for a person or a program.
struct JobPreviewReport {
  static let credential = "(credential)"

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
    if request.hasCredentialHeader { lines.append("authorization: \(Self.credential)") }
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
    if asJSON { return console.print(json: json()) }
    for line in lines(on: console.output) { console.print(line) }
  }
}

extension PreviewTarget {
  fileprivate var heading: String {
    "\(network.rawValue) \(environment.rawValue) \(shownToken)"
  }
}

extension PreviewedRequest {
  /// Nil when it is not JSON, which no network's is today.
  var json: JSONValue? { try? JSONParser().parse(body) }

  fileprivate var bodyLines: [String] {
    json?.indentedLines ?? [String(decoding: body, as: UTF8.self)]
  }
}

extension PreviewedPush.Cause {
  /// For a person, to stand behind a colon.
  func sentence(_ target: PreviewTarget) -> String {
    let network = target.network.rawValue
    return switch self {
    case .environmentExcluded:
      "the job is not for installations of \(target.environment.rawValue) (/environments)"
    case .noCredentials:
      "this configuration has no credentials for \(network) in \(target.environment.rawValue); a "
        + "worker that has them would send it"
    case .expired: "the job has expired (/expires_at)"
    case .notForNetwork: "the job has nothing for \(network): add a notification or a part for it"
    case .noDryRun: "the job's \"dry_run\" is true, and \(network) has no dry run"
    case .refused(let field): "\(field)"
    case .otherKind(let kind):
      "the job is for tokens of kind \(kind.rawValue), and this is one of another kind"
    case .filtered: "\(TraceCause.filtered.explanation) (/filter)"
    case .missingVariable(let name):
      "the job's variables have no value for {{\(name)}}, which has no default"
    case .unreadableVariables: TraceCause.unreadableVariables.explanation
    case .noVariablesHash: TraceCause.noVariablesHash.explanation
    case .payloadTooLarge(let size):
      "filled in it makes a \(network) \(size.part) of \(FigureText.count(size.bytes)) bytes, and "
        + "\(FigureText.count(size.bytesMax)) are allowed"
    }
  }
}
