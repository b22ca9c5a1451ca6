internal import HTTP2
internal import Model

extension ConnectionEnd {
  /// For a log: a GOAWAY's debug data and the words of libraries may echo what was sent.
  var logText: String {
    ForeignText.printable(description, bytesMax: WorkerLimits.connectionEndBytesMax)
  }
}
