/// The limits of pushes over libcurl.
enum CurlLimits {
  /// Requests that libcurl holds without having begun to send them. It does not say how many streams a
  /// server allows: that these wait is how the pool knows.
  static let waitingMax = 16
  /// How long such a request may wait before it is handed back as not sent, and asked for again: the sender looks once
  /// more at what it rests on.
  static let waitMsMax: UInt64 = 200
  /// Rounds of requests in one turn of the loop.
  static let roundsPerTurn = 256
  /// libcurl's buffer for what a transfer uploads: the least it takes.
  static let uploadBufferBytes = 16 * 1024
  static let textBytesMax = 300
  /// Calls of libcurl in a row that bring nothing before it has to wait. It asks for sockets that can be written to
  /// also while the peer's window is closed (7.88), which they can be all the time.
  static let fruitlessMax = 16
  /// For how long it then hears of nothing but what can be read.
  static let restMs: UInt64 = 20
}
