extension TextRule {
  /// 1 to `bytesMax` bytes without control characters; the error's pointer is empty.
  package static func check(_ text: String, bytesMax: Int) throws(InvalidField) {
    let count = text.utf8.count
    guard count > 0 else {
      throw InvalidField(pointer: "", message: "must not be empty")
    }
    guard count <= bytesMax else {
      throw InvalidField(
        pointer: "", message: "must be at most \(bytesMax) bytes of UTF-8, is \(count)")
    }
    guard !hasControl(text) else {
      throw InvalidField(pointer: "", message: "must not hold control characters")
    }
  }

  /// Checks as `check` does, and that a header can hold the text.
  package static func checkHeaderValue(_ text: String, bytesMax: Int) throws(InvalidField) {
    try check(text, bytesMax: bytesMax)
    guard isHeaderValue(text) else {
      throw InvalidField(
        pointer: "",
        message:
          "must be printable ASCII without a space at its beginning or end, since it is sent as a header"
      )
    }
  }

  /// An app's name is part of Redis keys and of metric names.
  package static func checkApp(_ text: String) throws(InvalidField) {
    guard (1...Limits.appBytesMax).contains(text.utf8.count), isWord(text, others: "._-") else {
      throw InvalidField(
        pointer: "",
        message: "must be 1 to \(Limits.appBytesMax) ASCII letters, digits or . _ -")
    }
  }

  /// A topic's name is part of Redis keys and of messages.
  package static func checkTopic(_ text: String) throws(InvalidField) {
    guard (1...Limits.topicBytesMax).contains(text.utf8.count), isWord(text, others: "_-") else {
      throw InvalidField(
        pointer: "",
        message: "must be 1 to \(Limits.topicBytesMax) ASCII letters, digits or _ -")
    }
  }

  /// A shard's name stands in front of entries, and in paths and options.
  package static func checkShard(_ text: String) throws(InvalidField) {
    guard (1...Limits.shardNameBytesMax).contains(text.utf8.count), isWord(text, others: "_-")
    else {
      throw InvalidField(
        pointer: "",
        message: "must be 1 to \(Limits.shardNameBytesMax) ASCII letters, digits or _ -")
    }
  }

  package static func checkUser(_ text: String) throws(InvalidField) {
    try check(text, bytesMax: Limits.userBytesMax)
  }

  /// A job's id is part of a Redis key and is typed on command lines.
  package static func checkJobID(_ text: String) throws(InvalidField) {
    guard (1...Limits.jobIDBytesMax).contains(text.utf8.count),
      text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else {
      throw InvalidField(
        pointer: "",
        message: "must be 1 to \(Limits.jobIDBytesMax) printable ASCII characters without spaces")
    }
  }
}
