internal import Model

/// One deed of an operator. Texts that are too long are cut.
package struct Act: Sendable, Equatable {
  /// A noun and a verb, such as `job.cancel`, `switch.off` or `key.create`.
  package let verb: String
  /// The app that it was about; empty for none, or for all.
  package let app: String
  /// The thing that it was done to: a job's id, a field of the switches, a dead letter's entry, a key's id.
  package let subject: String
  /// Anything else that there is to say, such as a pace or a reason.
  package let detail: String

  package init(_ verb: String, app: String? = nil, subject: String = "", detail: String = "") {
    self.verb = Self.cut(verb, StoreLimits.actWordBytesMax)
    self.app = Self.cut(app ?? "", StoreLimits.actWordBytesMax)
    self.subject = Self.cut(subject, StoreLimits.actTextBytesMax)
    self.detail = Self.cut(detail, StoreLimits.actTextBytesMax)
  }

  /// The text, or as much of its beginning as fits.
  static func cut(_ text: String, _ bytesMax: Int) -> String {
    guard text.utf8.count > bytesMax else { return text }
    var end = text.utf8.index(text.startIndex, offsetBy: bytesMax)
    while end.samePosition(in: text.unicodeScalars) == nil { text.utf8.formIndex(before: &end) }
    return String(text[..<end])
  }
}

/// An act as the stream has it.
package struct ActEntry: Sendable, Equatable {
  /// The stream entry, by which the next page is asked for.
  package let entry: String
  package let act: Act
  /// Epoch milliseconds.
  package let atMs: Int64
  /// A user of a machine (`ann@push-1`), or the id of a key.
  package let who: String
  /// The name that the key had; empty for none.
  package let whoName: String
  /// An address, or `command line`.
  package let from: String

  /// Nil when it is no entry of the stream.
  init?(entry: String, fields: [(String, String)]) {
    guard let id = EntryID(entry) else { return nil }
    self.entry = entry
    func field(_ name: String) -> String { fields.first { $0.0 == name }?.1 ?? "" }
    act = Act(
      field("verb"), app: field("app"), subject: field("subject"), detail: field("detail"))
    let idMs = Int64(clamping: id.milliseconds)
    atMs = StoredNumber.instantMs(Int64(field("at")) ?? idMs)
    who = Act.cut(field("who"), StoreLimits.actTextBytesMax)
    whoName = Act.cut(field("who_name"), StoreLimits.actTextBytesMax)
    from = Act.cut(field("from"), StoreLimits.actTextBytesMax)
  }
}
