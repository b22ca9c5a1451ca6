internal import CommandLineInterface
internal import LocalServices
internal import Model
internal import Operations
internal import ProgramSetup
internal import Typesetting

/// The end of the demo: the job's table, the other side's count, and what to try next.
struct DemoReport {
  let record: JobRecord
  let counters: SimulatorCounters

  func lines(on terminal: Terminal) -> [String] {
    var lines = [""] + JobReport(record: record).lines(on: terminal)
    let answers = counters.answers.sorted { $0.key < $1.key }
      .map { "\(FigureText.count($0.value)) times \($0.key) \(Self.meaning($0.key))" }
    lines += [
      "",
      "The push networks accepted \(FigureText.count(counters.accepted)) pushes on "
        + "\(counters.connectionsOpened) connections and answered:",
    ]
    lines += answers.map { "  " + $0 }
    let untold = record.counts.accepted - counters.accepted
    if untold > 0 {
      lines.append(
        "  JPush takes many devices a request and did not say that \(FigureText.count(untold)) are gone: "
          + "these count as accepted")
    }
    if counters.resets > 0 {
      lines.append(
        "  \(FigureText.count(counters.resets)) streams refused unprocessed (sent again at once)")
    }
    return lines
  }

  private static func meaning(_ status: Int) -> String {
    switch status {
    case 200: "(yes; OAuth's answers too)"
    case 400: "(JPush: none of a request's devices is there; each was tried alone)"
    case 404: "(FCM: this device is gone; uninstalled)"
    case 410: "(APNs: this device is gone; uninstalled)"
    case 503: "(APNs: busy; retried with growing delays)"
    default: ""
    }
  }

  static let nextCommands = """

    Try next:
      pushpool demo --installations 200000     the same, larger
      pushpool demo --keep                     leave it running, to look around from another terminal
      pushpool worker --help                   a worker of your own
    """

  /// Returns what works while the demo is kept.
  static func visit(_ redisURL: String, user: String) -> String {
    """

    It keeps running until Ctrl-C. In another terminal:
      export PUSHPOOL_REDIS_URL=\(redisURL)
      pushpool status
      pushpool devices --app \(DemoCampaign.app) --user \(user)
      pushpool job \(DemoCampaign.jobID) --app \(DemoCampaign.app)
    """
  }

  func json() -> JSONValue {
    var object = record.json().objectValue ?? [:]
    object["provider_accepted"] = .integer(counters.accepted)
    var answers: JSONObject = [:]
    for (status, count) in counters.answers.sorted(by: { $0.key < $1.key }) {
      answers[String(status)] = .integer(count)
    }
    object["provider_answers"] = .object(answers)
    return .object(object)
  }
}
