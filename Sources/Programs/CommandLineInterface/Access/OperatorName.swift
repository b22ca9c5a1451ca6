internal import Glibc

/// The person at the machine, as the list of acts names whoever did something.
enum OperatorName {
  /// `user@host`; of a user without a name its number.
  static var current: String { "\(user)@\(host)" }

  private static var user: String {
    let number = getuid()
    var record = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var texts = [CChar](repeating: 0, count: 16_384)
    guard getpwuid_r(number, &record, &texts, texts.count, &found) == 0, found != nil,
      let name = record.pw_name
    else { return "uid \(number)" }
    return String(cString: name)
  }

  private static var host: String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard gethostname(&buffer, buffer.count - 1) == 0 else { return "localhost" }
    return String(
      decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
