extension LocalSchedule {
  /// - Parameters:
  ///   - zones: all that are known, by name.
  ///   - appZone: one of these; nil when the app has none in the configuration.
  ///   - nowMs: when the job was enqueued, in epoch milliseconds.
  /// - Throws: when nobody can receive it at such a time.
  package init(
    _ delivery: LocalDelivery, in zones: [String: TimeZoneRules], appZone: String?, nowMs: Int64
  ) throws(InvalidField) {
    let pointer = FieldPointer.child(LocalDelivery.field, of: "")
    var starts: [Int64: [String]] = [:]
    var missed: [String] = []
    /// Names of one zone have the same rules.
    var known: [(rules: TimeZoneRules, start: Start)] = []
    var isAnywhereAhead = false
    for (name, rules) in zones.sorted(by: { $0.key < $1.key }) {
      let start: Start
      if let same = known.first(where: { $0.rules == rules }) {
        start = same.start
      } else {
        start = Start(delivery, rules, nowMs: nowMs)
        known.append((rules, start))
      }
      switch start {
      case .at(let ms):
        isAnywhereAhead = true
        starts[ms, default: []].append(name)
      case .late where delivery.late == .send: starts[nowMs, default: []].append(name)
      case .late: missed.append(name)
      }
    }
    // Clocks that never change start with the zones that show the same: they make no rounds of their own.
    for offset in FixedOffset.all {
      switch Start(delivery, offset.rules, nowMs: nowMs) {
      case .at(let ms): starts[ms]?.append(offset.name)
      case .late where delivery.late == .send: starts[nowMs]?.append(offset.name)
      case .late: missed.append(offset.name)
      }
    }
    guard isAnywhereAhead else {
      throw InvalidField(
        pointer: FieldPointer.child("date", of: pointer),
        message:
          "has passed in every time zone: give a later one, or leave it out for the next time")
    }
    let home: String? =
      switch delivery.withoutZone {
      case .skip: nil
      case .utc: "UTC"
      case .app, nil: appZone ?? "UTC"
      }
    guard delivery.withoutZone != .app || appZone != nil else {
      throw InvalidField(
        pointer: FieldPointer.child("without_zone", of: pointer),
        message:
          "is app, and the app has no time_zone in the configuration: give it one, or say utc or skip"
      )
    }
    if let home, zones[home] == nil {
      throw InvalidField(
        pointer: FieldPointer.child("without_zone", of: pointer),
        message:
          "means \(home), which is no time zone of the worker's system: correct the app's time_zone, or update tzdata"
      )
    }
    let rounds = starts.sorted { $0.key < $1.key }.map {
      Round(atMs: $0.key, zones: $0.value.sorted())
    }
    self.rounds = rounds
    self.missed = missed.sorted()
    guard let last = rounds.last, last.atMs - nowMs <= Limits.deliverAheadMsMax else {
      throw InvalidField(
        pointer: FieldPointer.child("date", of: pointer),
        message: "is more than 365 days ahead: keep the job, and enqueue it when it is nearer")
    }
    roundWithoutZone = home.flatMap { home in rounds.firstIndex { $0.zones.contains(home) } }
  }

  /// - Throws: when a job that expires then would reach nobody.
  package func check(_ expiry: Expiry?) throws(InvalidField) {
    guard case .at(let endMs)? = expiry, let first = rounds.first, endMs <= first.atMs else {
      return
    }
    throw InvalidField(
      pointer: "/expires_at", message: "must be later than deliver_local is in any time zone")
  }

  private enum Start: Equatable {
    case at(ms: Int64)
    /// The time has passed.
    case late

    init(_ delivery: LocalDelivery, _ rules: TimeZoneRules, nowMs: Int64) {
      func instantMs(_ date: CivilDate) -> Int64 {
        Int64(rules.instant(of: date, secondsOfDay: delivery.minutes * 60)) * 1_000
      }
      // The day before today at UTC has ended nowhere yet, or only just.
      var date = delivery.date ?? CivilDate(daysSinceEpoch: Int(nowMs / 86_400_000) - 2)
      var ms = instantMs(date)
      guard delivery.date == nil || delivery.late == .nextDay else {
        self = ms >= nowMs ? .at(ms: ms) : .late
        return
      }
      if ms < nowMs {
        // A date long ago is followed by as many days.
        let behind = Int((nowMs - ms) / 86_400_000)
        date = CivilDate(daysSinceEpoch: date.daysSinceEpoch + max(0, behind - 1))
        ms = instantMs(date)
        while ms < nowMs {
          date = CivilDate(daysSinceEpoch: date.daysSinceEpoch + 1)
          ms = instantMs(date)
        }
      }
      self = .at(ms: ms)
    }
  }
}
