internal import Model

/// Something that an operator is to look at.
package struct Alarm: Sendable, Equatable {
  /// See `AlarmKind.field`.
  package let field: String
  /// Since when, epoch milliseconds.
  package let atMs: Int64
  /// When it ends unless it is renewed, epoch milliseconds.
  package let untilMs: Int64
  /// A sentence.
  package let message: String

  init(field: String, atMs: Int64, untilMs: Int64, message: String) {
    self.field = field
    self.atMs = atMs
    self.untilMs = untilMs
    self.message = message
  }

  /// Nil when the JSON is nothing that the functions wrote.
  init?(field: String, json: String) {
    guard let object = (try? JSONParser().parse(Array(json.utf8)))?.objectValue,
      let atMs = object["at"]?.int64Value, let untilMs = object["until"]?.int64Value,
      let message = object["message"]?.stringValue
    else { return nil }
    self.field = field
    self.atMs = StoredNumber.instantMs(atMs)
    self.untilMs = StoredNumber.instantMs(untilMs)
    self.message = message
  }
}
