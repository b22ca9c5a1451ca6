/// An HTTP client on libcurl with one thread of its own, shared by all lanes.
///
/// TLS certificates are always verified, redirects are not followed, and only `http:` and `https:` are spoken.
package final class HTTPClient: Sendable {
  private let thread: TransferThread

  package init() {
    thread = TransferThread()
  }

  deinit {
    thread.stop()
  }

  /// Sends one request and waits for its whole response.
  ///
  /// Cancelling the calling task does not abort it: `timeoutMs` bounds it, and a token that was
  /// exchanged is of use to whoever asks next.
  package func perform(_ request: HTTPRequest) async throws(HTTPClientError) -> HTTPResponse {
    let result = await withUnsafeContinuation {
      (continuation: UnsafeContinuation<Result<HTTPResponse, HTTPClientError>, Never>) in
      thread.submit(Transfer(request) { continuation.resume(returning: $0) })
    }
    return try result.get()
  }

  /// Fails what is under way with `closed` and ends the thread; both have happened when it returns, unless libcurl
  /// waits for a look-up for longer than `HTTPClientLimits.stopSeconds`. May be called more than once.
  package func shutdown() {
    thread.stop()
  }
}
