/// How long the record of a job is kept after its end, and with it the job's id, by the kind of job; in seconds.
package struct JobRetention: Sendable, Equatable {
  /// Of a job to many: a list of more than `Limits.fewReceiversMax`, a key of users, a topic, a channel or all. And of any
  /// job that did not end well, at least.
  package let manySeconds: Int
  /// Of a job to few that has an id of its own.
  package let namedSeconds: Int
  /// Of a job to few without one: nobody can enqueue it again, so nobody has to notice that.
  package let unnamedSeconds: Int

  package init(manySeconds: Int, namedSeconds: Int, unnamedSeconds: Int) {
    self.manySeconds = manySeconds
    self.namedSeconds = namedSeconds
    self.unnamedSeconds = unnamedSeconds
  }

  /// The spans for one job. "Well" is done, and no installation rejected, expired or failed.
  package struct Spans: Sendable, Equatable {
    package let wellSeconds: Int
    package let otherwiseSeconds: Int

    package init(wellSeconds: Int, otherwiseSeconds: Int) {
      self.wellSeconds = wellSeconds
      self.otherwiseSeconds = otherwiseSeconds
    }
  }

  /// Returns the spans for a job.
  /// - Parameters:
  ///   - receivers: how many its list has; nil for another audience.
  ///   - ownSeconds: what the job itself says.
  ///   - isTraced: whether it asks for a full trace, which is of no use without the record.
  package func spans(
    hasID: Bool, receivers: Int?, ownSeconds: Int?, isTraced: Bool
  ) -> Spans {
    var well =
      ownSeconds
      ?? (receivers.map { $0 <= Limits.fewReceiversMax } ?? false
        ? hasID ? namedSeconds : unnamedSeconds : manySeconds)
    if isTraced { well = max(well, Limits.traceSeconds) }
    return Spans(wellSeconds: well, otherwiseSeconds: max(well, manySeconds))
  }

  /// Returns how long the record of an ended job is kept, as far as its counts say: a list of few users may have come to more
  /// installations, and a job may say so itself.
  /// - Parameter hasID: whether it has an id of its own.
  package func seconds(of job: JobRecord, hasID: Bool) -> Int {
    let spans = spans(hasID: hasID, receivers: job.total, ownSeconds: nil, isTraced: false)
    let counts = job.counts
    let isWell = job.state == .done && counts.rejected + counts.expired + counts.failed == 0
    return isWell ? spans.wellSeconds : spans.otherwiseSeconds
  }
}
