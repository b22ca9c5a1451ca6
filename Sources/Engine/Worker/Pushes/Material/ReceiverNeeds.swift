internal import Model

/// The needs of a job that is not the same for every receiver: what is read of each before a push is made for it.
struct ReceiverNeeds {
  /// Which installations get it; nil for all of the audience.
  let filter: FilterMatcher?
  /// Which time zones this round of the job is for; nil for a job that is for all at once.
  let zones: ZoneMatcher?
  /// The names of the fields that are read of each installation's record: its language, its time zone, then what the
  /// filter looks at.
  let recordFields: [String]
  /// Whether what it says, or to whom, is not the same for every receiver.
  let isPersonal: Bool
  /// How many users are resolved at a time where each push is made for its receiver.
  private(set) var batch = WorkerLimits.resolveBatchMax

  init(_ content: JobContent, _ variants: MessageVariants, zones: ZoneMatcher?) {
    filter = content.receivers.map { FilterMatcher($0) }
    self.zones = zones
    recordFields =
      (variants.hasLanguages ? ["language"] : []) + (zones == nil ? [] : ["time_zone"])
      + (filter?.recordFields ?? [])
    isPersonal = variants.hasLanguages || variants.hasMarks || filter != nil || zones != nil
  }

  /// Notes that so many users had so many bindings and bytes of values.
  mutating func noteBatch(users: Int, bindings: Int, bytes: Int) {
    let most = min(
      users * WorkerLimits.batchBindingsMax / max(bindings, 1),
      users * WorkerLimits.batchValueBytesMax / max(bytes, 1))
    batch = max(WorkerLimits.personalBatchMin, min(most, WorkerLimits.personalBatchMax))
  }
}
