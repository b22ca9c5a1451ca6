package import Model
internal import Providers
internal import PushpoolConfiguration

/// The requests that a job would send to some devices, rendered as workers render them. Nothing is enqueued, signed or
/// sent.
package struct JobPreview: Sendable {
  /// Why workers with this configuration would make the job a dead letter; nil when they would take it in.
  package let refusal: InvalidField?
  package let pushes: [PreviewedPush]

  /// - Parameters:
  ///   - targets: installations of one user, or any device.
  ///   - values: that user's.
  ///   - app: the job's.
  ///   - nowMs: epoch milliseconds.
  package init(
    of job: Job, to targets: [PreviewTarget],
    filledWith values: ReceiverValues = .values([:]), with app: PreviewedApp, nowMs: Int64
  ) {
    let (startMs, misfit) = Self.start(of: job, appZone: app.timeZone, nowMs: nowMs)
    // What it says of its time is what it says when it starts.
    let nowMs = max(nowMs, startMs)
    let directory = app.directory
    if let misfit {
      refusal = misfit
    } else if case .refused(let field) = directory.check(
      job.content, textBytes: nil, app: job.app, nowMs: nowMs)
    {
      refusal = field
    } else {
      refusal = nil
    }
    pushes = targets.map {
      PreviewedPush(of: job, to: $0, filledWith: values, by: directory, nowMs: nowMs)
    }
  }

  /// When the job starts, in its first time zone if it goes by them; and why it cannot by them. Where this system lacks time
  /// zones, a worker's will tell.
  private static func start(
    of job: Job, appZone: String?, nowMs: Int64
  ) -> (ms: Int64, refusal: InvalidField?) {
    guard let delivery = job.deliverLocal, let zones = try? TimeZoneDatabase().zones else {
      return (job.deliverAtMs ?? nowMs, nil)
    }
    do throws(InvalidField) {
      let schedule = try LocalSchedule(
        delivery, in: zones, appZone: appZone, nowMs: nowMs)
      try schedule.check(job.content.expiry)
      return (schedule.rounds.first?.atMs ?? nowMs, nil)
    } catch {
      return (nowMs, error)
    }
  }

  /// How many of the devices would get nothing; but for those that are for pushes of another kind, if others get one.
  package var unserved: Int {
    let hasRequest = pushes.contains { if case .request = $0.result { true } else { false } }
    return pushes.count {
      switch $0.result {
      case .request: false
      case .nothing(.otherKind): !hasRequest
      case .nothing: true
      }
    }
  }
}
