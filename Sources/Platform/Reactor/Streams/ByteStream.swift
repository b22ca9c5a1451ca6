internal import CLinux
internal import Glibc

/// A TCP or unix stream socket, in clear or under TLS, that never blocks; loop-bound.
///
/// Output is gathered in a bounded buffer and written once a turn. The delegate is held until the
/// stream closes, and is told so exactly once.
package final class ByteStream {
  enum State {
    case idle, opening, open, closed
  }

  let loop: EventLoop
  var delegate: (any ByteStreamDelegate)?
  var state = State.idle
  var descriptor: CInt = -1
  private var registration: RegistrationTable.Place?
  /// Whether epoll is asked for writability too: while connecting, and while something waits for it.
  private var watchesWriting = false
  private var tls: TLSSession?
  private var output: OutputBuffer
  private var isWritable = false
  private var isFlushRequested = false
  private let flushesLate: Bool
  private var isReadingPaused = false
  private var hasUnreadInput = false
  private var isReadQueued = false
  /// TLS may need the other direction to go on, as when it answers a key update (RFC 8446, 4.6.3).
  private var readWaitsForWritable = false
  private var writeWaitsForReadable = false
  /// Whether it gives its buffers back whenever they are empty, as it does until it was read from this often.
  private var isLean = true
  private var leanReads = 0
  /// Where it was opened to, and where that is remembered.
  private var opened: (address: SocketAddress, history: AddressHistory)?
  /// While it is being opened; see ByteStream+Connect.swift.
  var attempt: ConnectAttempt?

  /// - Parameters:
  ///   - outputBytesMax: what may wait to be written.
  ///   - flushesLate: whether what others have to say in a turn goes out before.
  package init(
    loop: EventLoop, delegate: any ByteStreamDelegate, outputBytesMax: Int = 256 * 1024,
    flushesLate: Bool = false
  ) {
    self.loop = loop
    self.flushesLate = flushesLate
    self.delegate = delegate
    output = OutputBuffer(bytesMax: outputBytesMax)
  }

  deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

  package var isOpen: Bool { state == .open }

  /// Whether the peer of a server's stream showed a (trusted) client certificate.
  package var peerShowedCertificate: Bool { tls?.peerShowedCertificate ?? false }

  // MARK: Output

  /// How many bytes `write` takes now.
  package var outputRoom: Int { output.room }

  package var outputWaiting: Int { output.count }

  /// Appends to what is waiting; it goes out at the end of the turn.
  /// - Returns: false, with nothing taken, when it does not fit or the stream is closed.
  package func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard state != .closed else { return false }
    return output.append(bytes)
  }

  /// Flushes once at the end of this turn, however often it is asked for.
  package func requestFlush() {
    guard !isFlushRequested, state == .open else { return }
    isFlushRequested = true
    loop.flushAtEndOfTurn(self, late: flushesLate)
  }

  private func flush() {
    guard state == .open, isWritable else { return }
    while true {
      if output.count < ReactorLimits.outputLowWaterBytes {
        delegate?.streamFillsOutput(self)
        guard state == .open else { return }
      }
      guard output.count > 0 else {
        if isLean { output.release() }
        return
      }
      switch writeSome() {
      case .bytes(let count): output.consume(count)
      case .wantsWrite:
        isWritable = false
        watchWriting(true)
        return
      case .wantsRead:
        writeWaitsForReadable = true
        return
      case .closed: return finish(nil)
      case .failed(let failure): return finish(failure)
      }
    }
  }

  private func writeSome() -> TLSSession.Step {
    let pending = output.pending
    guard tls == nil else {
      let record = min(pending.count, ReactorLimits.tlsRecordBytes)
      return tls!.write(UnsafeRawBufferPointer(rebasing: pending[..<record]))
    }
    let count = send(descriptor, pending.baseAddress, pending.count, CInt(MSG_NOSIGNAL))
    guard count < 0 else { return .bytes(count) }
    if errno == EAGAIN || errno == EINTR { return .wantsWrite }
    return .failed(.system(SystemError("send", errno: errno)))
  }

  // MARK: Input

  /// Stops reading, so that TCP pushes back on the peer; what arrives waits in the socket.
  package func pauseReading() { isReadingPaused = true }

  package func resumeReading() {
    isReadingPaused = false
    if hasUnreadInput {
      hasUnreadInput = false
      queueRead()
    }
  }

  /// Reads in the next turn, without an edge of the socket.
  private func queueRead() {
    guard !isReadQueued else { return }
    isReadQueued = true
    loop.readAgainNextTurn(self)
  }

  func readQueued() {
    isReadQueued = false
    readAll(untilEmpty: true)
  }

  /// - Parameter untilEmpty: whether to go on until the socket says that there is no more, as it must where no edge
  ///   tells of what is left: its end, or bytes that a turn had no time for.
  private func readAll(untilEmpty: Bool) {
    readWaitsForWritable = false
    if writeWaitsForReadable {
      writeWaitsForReadable = false
      requestFlush()
    }
    for _ in 0..<ReactorLimits.readsPerTurn {
      guard state == .open else { return }
      guard !isReadingPaused else {
        hasUnreadInput = true
        return
      }
      switch readSome() {
      case .bytes(let count):
        // A read that got less than it asked for has emptied the socket: what comes next is a new edge (epoll(7)). Not
        // so under TLS, which reads the rest of a record by itself and leaves what is behind it.
        let isDrained = !untilEmpty && tls == nil && count < loop.readBuffer.count
        delegate?.stream(
          self, didRead: UnsafeRawBufferPointer(rebasing: loop.readBuffer[..<count]))
        if isDrained { return }
      case .wantsRead: return
      case .wantsWrite:
        readWaitsForWritable = true
        watchWriting(true)
        return
      case .closed: return finish(nil)
      case .failed(let failure): return finish(failure)
      }
    }
    queueRead()
  }

  private func readSome() -> TLSSession.Step {
    if isLean { countRead() }
    guard tls == nil else { return tls!.read(into: loop.readBuffer) }
    let count = recv(descriptor, loop.readBuffer.baseAddress, loop.readBuffer.count, 0)
    if count > 0 { return .bytes(count) }
    if count == 0 { return .closed }
    if errno == EAGAIN || errno == EINTR { return .wantsRead }
    return .failed(.system(SystemError("recv", errno: errno)))
  }

  // MARK: Buffers

  /// Gives back the memory that it has for being busy.
  package func releaseBuffers() {
    guard state == .open, output.count == 0 else { return }
    output.release()
    tls?.keepBuffers(false)
    (isLean, leanReads) = (true, 0)
  }

  private func countRead() {
    leanReads += 1
    guard leanReads > ReactorLimits.leanReadsMax else { return }
    isLean = false
    tls?.keepBuffers(true)
  }

  // MARK: Life

  /// Notes that its address was of no use: the next connection to its host does not begin with this address.
  package func avoidAddress() {
    opened?.history.noteFailure(opened!.address, nowNs: loop.nowNs)
  }

  /// Closes in order; what was not flushed is lost. The delegate hears of it, once, before this
  /// returns. So it also ends when the peer has sent its last byte: there is no half-closed state.
  package func close() {
    tls?.sendCloseAlert()
    finish(nil)
  }

  /// Cuts the connection with a TCP reset, as a peer that crashed does.
  package func abort() {
    var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
    for socket in (attempt?.candidates.map(\.descriptor) ?? []) + [descriptor] where socket >= 0 {
      setsockopt(
        socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    }
    finish(nil)
  }

  /// Ends the stream and tells the delegate, once.
  func finish(_ failure: StreamFailure?) {
    guard state != .closed else { return }
    state = .closed
    endAttempt()
    tls = nil
    if let registration { loop.unregister(registration) }
    registration = nil
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
    let delegate = self.delegate
    self.delegate = nil
    delegate?.stream(self, didCloseWith: failure)
    if case .system(let error) = failure, error.isOutOfDescriptors {
      loop.onOutOfDescriptors?(error)
    }
  }

  /// A unix socket is reported writable after each write that was read, so this is asked for only where it matters.
  private func watchWriting(_ isWatched: Bool) {
    guard let registration, watchesWriting != isWatched else { return }
    watchesWriting = isWatched
    loop.watch(descriptor, registration, for: isWatched ? [.input, .writable] : .input)
  }

  /// Takes over the socket that was opened for it.
  func didOpen(_ candidate: ConnectCandidate) {
    (descriptor, registration) = candidate.takeSocket()
    tls = candidate.takeSession()
    if let route = candidate.route, let attempt {
      attempt.resolver.history.noteSuccess(route.address)
      attempt.resolver.history.noteSuccess(route.reached)
      opened = (route.reached, attempt.resolver.history)
    }
    endAttempt()
    if let registration { loop.hand(registration, to: self) }
    state = .open
    isWritable = true
    watchesWriting = true
    watchWriting(false)
    delegate?.streamDidOpen(self)
    requestFlush()
    // TLS may have read application data along with the end of the handshake. Not read at once: this
    // may be within another stream's callback, whose bytes lie in the loop's buffer.
    queueRead()
  }
}

extension ByteStream: ReadinessHandler {
  func ready(_ readiness: Readiness) {
    guard state == .open else { return }
    if readiness.contains(.writable) {
      isWritable = true
      watchWriting(false)
      if output.count > 0 { requestFlush() }
    }
    let wasEnded = !readiness.isDisjoint(with: [.peerClosed, .hangUp, .failed])
    if readiness.contains(.readable) || wasEnded || readWaitsForWritable {
      readAll(untilEmpty: wasEnded)
    }
  }
}

extension ByteStream: Flushable {
  package func flushNow() {
    isFlushRequested = false
    flush()
  }
}

/// The calls by which a stream tells its owner of itself; every call comes on the loop.
package protocol ByteStreamDelegate: AnyObject {
  /// TCP, TLS and ALPN are settled.
  func streamDidOpen(_ stream: ByteStream)

  /// Bytes arrived; they are valid during the call only.
  func stream(_ stream: ByteStream, didRead bytes: UnsafeRawBufferPointer)

  /// Called at each flush while less than `ReactorLimits.outputLowWaterBytes` wait: write more now,
  /// or nothing.
  func streamFillsOutput(_ stream: ByteStream)

  /// The stream ended, or never opened; called exactly once.
  /// - Parameter failure: nil when either side closed in order.
  func stream(_ stream: ByteStream, didCloseWith failure: StreamFailure?)
}
