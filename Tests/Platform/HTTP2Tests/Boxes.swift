import HTTP2Server
import HTTP2

/// What the closures of a test share; loop-bound.
final class Texts { var list: [String] = [] }

final class Numbers { var list: [Int] = [] }

final class Requests { var list: [ServerRequest] = [] }

final class Flag {
  var isSet: Bool

  init(_ isSet: Bool) {
    self.isSet = isSet
  }
}
