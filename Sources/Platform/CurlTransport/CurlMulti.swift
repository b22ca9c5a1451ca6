import CCurl
import HTTP2
import HTTPClient
import Reactor

/// libcurl's multi handle on a lane's loop: the transfers that it has, its timer, and its rest when nothing comes of calling it;
/// loop-bound.
final class CurlMulti {
  private let handle: UnsafeMutableRawPointer
  private let sockets: CurlSockets
  private var timer: LoopTimer!
  private var restTimer: LoopTimer!
  /// Calls of libcurl, and those in a row after which nothing had moved.
  private(set) var calls = 0
  private var fruitless = 0
  private var isClosed = false

  /// - Parameter onReady: called when libcurl is to act on a socket with the events of `CURL_CSELECT_…`, or on the time.
  init(
    loop: EventLoop, settings: ClientSettings, sockets: CurlSockets,
    onReady: @escaping (_ descriptor: CInt, _ events: CInt) -> Void
  ) {
    CurlLibrary.initialise()
    guard let handle = curl_multi_init() else { preconditionFailure("out of memory") }
    self.handle = handle
    self.sockets = sockets
    sockets.onReady = onReady
    timer = LoopTimer(loop: loop) { onReady(CURL_SOCKET_TIMEOUT, 0) }
    restTimer = LoopTimer(loop: loop) { [unowned self] in endRest() }
    _ = ccurl_multi_setopt_socket(
      handle, changedWish, Unmanaged.passUnretained(sockets).toOpaque())
    _ = ccurl_multi_setopt_timer(
      handle, changedTimeout, Unmanaged.passUnretained(self).toOpaque())
    for (option, value) in [
      (CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX)),
      (CURLMOPT_MAX_CONCURRENT_STREAMS, settings.streamsMax),
      (CURLMOPT_MAX_HOST_CONNECTIONS, settings.connectionsMax),
      (CURLMOPT_MAXCONNECTS, settings.connectionsMax),
    ] { _ = ccurl_multi_setopt_long(handle, option, value) }
  }

  deinit { close([]) }

  /// Takes the transfers that it has away from libcurl, which closes its connections. Safe to call twice.
  func close(_ running: [CurlTransfer]) {
    guard !isClosed else { return }
    isClosed = true
    for transfer in running { curl_multi_remove_handle(handle, transfer.handle) }
    restTimer.cancel()
    curl_multi_cleanup(handle)
    // Also what libcurl armed while it closed.
    timer.cancel()
    sockets.stop()
  }

  // MARK: Calls

  /// - Returns: whether libcurl has taken it.
  func add(_ transfer: CurlTransfer) -> Bool {
    curl_multi_add_handle(handle, transfer.handle) == CURLM_OK
  }

  /// Lets libcurl act on what `onReady` was called with.
  func act(on descriptor: CInt, _ events: CInt) {
    var running: CInt = 0
    calls += 1
    curl_multi_socket_action(handle, descriptor, events, &running)
  }

  /// A transfer that has ended, with its code; libcurl has it no more.
  func nextEnded() -> (transfer: CurlTransfer, code: CURLcode)? {
    var left: CInt = 0
    while !isClosed, let message = curl_multi_info_read(handle, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let ended = message.pointee.easy_handle else {
        continue
      }
      sockets.noteMovement()
      let code = message.pointee.data.result
      let context = ccurl_easy_private(ended)
      curl_multi_remove_handle(handle, ended)
      guard let context else { continue }
      return (Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue(), code)
    }
    return nil
  }

  // MARK: Rest

  /// Has libcurl wait when it is called and called without anything that moves.
  func note(hasMoved: Bool) {
    fruitless = hasMoved ? 0 : fruitless + 1
    guard fruitless >= CurlLimits.fruitlessMax, !sockets.isResting, !isClosed else { return }
    sockets.rest(true)
    restTimer.schedule(afterMs: CurlLimits.restMs)
  }

  private func endRest() {
    // One call tells whether it was of use.
    fruitless = CurlLimits.fruitlessMax - 1
    sockets.rest(false)
  }

  fileprivate func setTimeout(ms: Int) {
    guard ms >= 0 else { return timer.cancel() }
    timer.schedule(afterMs: sockets.isResting ? max(UInt64(ms), CurlLimits.restMs) : UInt64(ms))
  }
}

private func changedWish(
  _ handle: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t, _ what: CInt,
  _ context: UnsafeMutableRawPointer?, _ socketContext: UnsafeMutableRawPointer?
) -> CInt {
  Unmanaged<CurlSockets>.fromOpaque(context!).takeUnretainedValue().watch(descriptor, for: what)
  return 0
}

private func changedTimeout(
  _ multi: UnsafeMutableRawPointer?, _ timeoutMs: Int, _ context: UnsafeMutableRawPointer?
) -> CInt {
  Unmanaged<CurlMulti>.fromOpaque(context!).takeUnretainedValue().setTimeout(ms: timeoutMs)
  return 0
}
