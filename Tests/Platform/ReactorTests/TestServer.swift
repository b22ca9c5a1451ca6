import Reactor
import TestSupport

/// Accepts streams on a free port or a unix socket; loop-bound.
final class TestServer {
  private(set) var listener: Listener!
  private(set) var streams: [ByteStream] = []
  private(set) var recorders: [StreamRecorder] = []

  /// - Parameter prepare: gives each accepted stream's recorder its closures.
  init(
    loop: EventLoop, endpoint: Endpoint = .tcp(host: "127.0.0.1", port: 0), tls: TLSContext? = nil,
    occurrences: Occurrences, prepare: @escaping (StreamRecorder) -> Void = { _ in }
  ) throws {
    listener = try Listener(loop: loop, endpoint: endpoint) { [unowned self] descriptor in
      let recorder = StreamRecorder(occurrences)
      prepare(recorder)
      let stream = ByteStream(loop: loop, delegate: recorder)
      recorders.append(recorder)
      streams.append(stream)
      stream.adopt(descriptor: descriptor, tls: tls)
      occurrences.note()
    }
  }

  var port: UInt16 { listener.port }

  deinit {
    listener.close()
    for stream in streams { stream.close() }
  }

  /// Sends back what arrives, reading no faster than it can be written.
  static func echo(_ recorder: StreamRecorder) {
    recorder.onRead = { stream, bytes in
      precondition(stream.write(bytes), "the echo read more than it has room for")
      if stream.outputRoom < ReactorLimits.readBufferBytes { stream.pauseReading() }
      stream.requestFlush()
    }
    recorder.onFill = { stream in stream.resumeReading() }
  }
}
