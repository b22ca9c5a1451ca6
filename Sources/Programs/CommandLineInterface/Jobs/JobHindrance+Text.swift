internal import Model
internal import Operations
internal import Typesetting

extension JobHindrance {
  /// Says what a person who waits is told, and what to do about it.
  func sentence(app: String, id: String) -> String {
    switch self {
    case .paused: "the job is paused; to go on: pushpool job \(id) resume --app \(app)"
    case .scheduled(let startAtMs):
      "the job starts at \(InstantText.rfc3339(ms: startAtMs)); to stop it: "
        + "pushpool job \(id) cancel --app \(app)"
    case .betweenLocalTimes(let nextMs):
      "the job's next local time is \(InstantText.rfc3339(ms: nextMs)); to stop it: "
        + "pushpool job \(id) cancel --app \(app)"
    case .switchedOff(let killSwitch, let remark):
      "\(killSwitch.words) is switched off\(killSwitch.since(remark)); its pushes wait: "
        + "pushpool switch list"
    case .noWorker: "no worker is running, and the job waits for one; start one: pushpool worker"
    case .alarm(_, let message): DisplayText.printable(message)
    }
  }
}
