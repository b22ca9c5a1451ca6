/// A job's order to send to each installation when clocks in its own time zone show a time.
package struct LocalDelivery: Sendable, Equatable {
  /// The treatment of an installation whose time zone is not known.
  package enum WithoutZone: String, Sendable, CaseIterable {
    /// The job at the app's own time.
    case app
    case utc
    /// Nothing.
    case skip
  }

  /// The treatment of a time that has passed when the job is enqueued.
  package enum Late: String, Sendable, CaseIterable {
    /// The job is sent at once.
    case send
    /// Nothing is sent.
    case skip
    /// The job is sent at that time of the next day.
    case nextDay = "next_day"
  }

  /// Nil for the first time that clocks show the time after the job is enqueued.
  package var date: CivilDate?
  /// From midnight, 0 to 1,439.
  package var minutes: Int
  /// Nil for the app's zone if it has one in the configuration, else UTC.
  package var withoutZone: WithoutZone?
  package var late: Late

  package init(
    date: CivilDate?, minutes: Int, withoutZone: WithoutZone? = nil, late: Late = .send
  ) {
    self.date = date
    self.minutes = minutes
    self.withoutZone = withoutZone
    self.late = late
  }
}

extension LocalDelivery {
  static let field = "deliver_local"
  private static let fields = ["date", "time", "without_zone", "late"]

  /// From a job's `deliver_local`, a time such as "09:00" or an object; nil when it has none.
  init?(reader: FieldReader) throws(InvalidField) {
    guard let value = reader[Self.field] else { return nil }
    let pointer = reader.pointer(to: Self.field)
    if case .string(let text) = value {
      self.init(date: nil, minutes: try Self.minutes(text, at: pointer))
      return
    }
    guard case .object = value else {
      throw InvalidField(
        pointer: pointer,
        message: "must be a time such as \"09:00\" or an object, is \(value.kindName)")
    }
    let own = try FieldReader(value, at: pointer, known: Self.fields)
    let time = try own.requiredString("time", why: "give one such as \"09:00\"")
    self.init(date: nil, minutes: try Self.minutes(time, at: own.pointer(to: "time")))
    withoutZone = try own.choice("without_zone", of: WithoutZone.self)
    if let text = try own.string("date") {
      guard let date = CivilDate(text) else {
        throw own.refused(
          "date",
          "must be a day such as 2026-12-01, is \"\(FieldPointer.printable(text))\"")
      }
      self.date = date
    }
    if let late = try own.choice("late", of: Late.self) {
      guard date != nil else {
        throw own.refused(
          "late",
          "needs a date beside it: without one the job is sent when clocks show the time next")
      }
      self.late = late
    }
  }

  private static func minutes(_ text: String, at pointer: String) throws(InvalidField) -> Int {
    let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.count == 2 }),
      let hour = DecimalDigits.number(parts[0]), let minute = DecimalDigits.number(parts[1]),
      hour < 24, minute < 60
    else {
      throw InvalidField(
        pointer: pointer,
        message: "must be a time from 00:00 to 23:59, is \"\(FieldPointer.printable(text))\"")
    }
    return hour * 60 + minute
  }

  /// Returns it as a producer would write it, in one form alone.
  func json() -> JSONValue {
    var object = JSONObject()
    object["date"] = date.map { .string($0.text) }
    object["time"] = .string(timeText)
    object["without_zone"] = withoutZone.map { .string($0.rawValue) }
    if late != .send { object["late"] = .string(late.rawValue) }
    return .object(object)
  }

  private var timeText: String {
    func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(padded(minutes / 60)):\(padded(minutes % 60))"
  }
}
