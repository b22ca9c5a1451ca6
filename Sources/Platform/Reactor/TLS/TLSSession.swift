internal import COpenSSL
internal import Glibc

/// One TLS connection over a non-blocking socket.
struct TLSSession: ~Copyable {
  /// The result of a TLS call.
  enum Step {
    case bytes(Int)
    case wantsRead
    case wantsWrite
    /// The peer closed in order.
    case closed
    case failed(StreamFailure)
  }

  private let ssl: OpaquePointer
  /// Kept alive for the server's ALPN callback.
  private let context: TLSContext

  /// - Parameter serverName: the host name or address that the peer's certificate must carry
  ///   (RFC 9525), also sent as SNI when it is a name; only clients give one.
  init(context: TLSContext, descriptor: CInt, serverName: String?) throws(TLSError) {
    guard let ssl = SSL_new(context.raw) else {
      throw TLSError.fromQueue("cannot make a TLS session")
    }
    do throws(TLSError) {
      try Self.prepare(ssl, isServer: context.isServer, serverName: serverName)
    } catch {
      SSL_free(ssl)
      throw error
    }
    SSL_set_fd(ssl, descriptor)
    self.ssl = ssl
    self.context = context
  }

  private static func prepare(
    _ ssl: OpaquePointer, isServer: Bool, serverName: String?
  ) throws(TLSError) {
    guard !isServer else { return SSL_set_accept_state(ssl) }
    SSL_set_connect_state(ssl)
    guard let serverName else { throw TLSError("a TLS client must name the server it expects") }
    guard try TLSContext.expect(serverName, in: SSL_get0_param(ssl)) else { return }
    guard copenssl_ssl_set_server_name(ssl, serverName) == 1 else {
      throw TLSError.fromQueue("cannot ask for the server name \(serverName)")
    }
  }

  deinit { SSL_free(ssl) }

  /// Whether the peer showed a certificate (and, being verified, a trusted one).
  var peerShowedCertificate: Bool { SSL_get0_peer_certificate(ssl) != nil }

  func handshake() -> Step {
    ERR_clear_error()
    let result = SSL_do_handshake(ssl)
    guard result != 1 else {
      return context.isProtocolAgreed(ssl) ? .bytes(0) : .failed(.noProtocol)
    }
    let verification = SSL_get_verify_result(ssl)
    let step = outcome(of: result)
    if case .failed = step, verification != X509_V_OK {
      let reason = String(cString: X509_verify_cert_error_string(verification))
      return .failed(.tls("the peer's certificate is refused: \(reason)"))
    }
    return step
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Step {
    ERR_clear_error()
    let count = SSL_read(ssl, buffer.baseAddress, CInt(buffer.count))
    return count > 0 ? .bytes(Int(count)) : outcome(of: count)
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> Step {
    ERR_clear_error()
    let count = SSL_write(ssl, bytes.baseAddress, CInt(bytes.count))
    return count > 0 ? .bytes(Int(count)) : outcome(of: count)
  }

  /// Tells the peer that we close, as far as the socket takes it now.
  func sendCloseAlert() {
    if SSL_is_init_finished(ssl) == 1 { SSL_shutdown(ssl) }
    ERR_clear_error()
  }

  /// Whether buffers stay when they are empty: a busy connection needs them again at once.
  func keepBuffers(_ isKept: Bool) {
    copenssl_ssl_keep_buffers(ssl, isKept ? 1 : 0)
    // Not within a record, of which OpenSSL 3.0 would lose what it has.
    if !isKept, copenssl_ssl_is_between_records(ssl) == 1 { SSL_free_buffers(ssl) }
  }

  private func outcome(of result: CInt) -> Step {
    let code = errno
    switch SSL_get_error(ssl, result) {
    case SSL_ERROR_WANT_READ: return .wantsRead
    case SSL_ERROR_WANT_WRITE: return .wantsWrite
    case SSL_ERROR_ZERO_RETURN: return .closed
    case SSL_ERROR_SYSCALL where code != 0:
      return .failed(.system(SystemError("TLS socket", errno: code)))
    case SSL_ERROR_SYSCALL: return .failed(.truncated)
    default:
      let reason = TLSError.reasonFromQueue()
      return switch reason {
      case "unexpected eof while reading": .failed(.truncated)
      case "tlsv1 alert no application protocol": .failed(.noProtocol)
      default: .failed(.tls(reason))
      }
    }
  }
}
