import CCurl
import Glibc
import HTTP2
import Reactor

extension CurlTransfer {
  /// Sets what all requests of a pool have in common.
  /// - Returns: false when memory ran out.
  func configure() -> Bool {
    let settings = target.settings
    let context = Unmanaged.passUnretained(self).toOpaque()
    var codes = [
      ccurl_easy_setopt_pointer(handle, CURLOPT_PRIVATE, context),
      ccurl_easy_setopt_write(handle, receivedBody, context),
      ccurl_easy_setopt_header(handle, receivedHeader, context),
      ccurl_easy_setopt_read(handle, readBody, allowRewinding, context),
      ccurl_easy_setopt_prereq(handle, mayBegin, context),
      // A connection outlives the request that opened it.
      ccurl_easy_setopt_sockets(
        handle, openSocket, closeSocket, Unmanaged.passUnretained(sockets).toOpaque()),
      ccurl_easy_setopt_tls(handle, equipTLS, context),
    ]
    let numbers: [(CURLoption, Int)] = [
      // Without it libcurl may use SIGALRM, which no threaded program can have.
      (CURLOPT_NOSIGNAL, 1),
      (CURLOPT_POST, 1),
      (CURLOPT_TIMEOUT_MS, Int(isProbe ? settings.connectTimeoutMs : settings.requestTimeoutMs)),
      (CURLOPT_CONNECTTIMEOUT_MS, Int(settings.connectTimeoutMs)),
      (CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS),
      (CURLOPT_PIPEWAIT, 1),
      (CURLOPT_FOLLOWLOCATION, 0),
      (CURLOPT_SSL_VERIFYPEER, 1),
      (CURLOPT_SSL_VERIFYHOST, 2),
      (CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
      (CURLOPT_SUPPRESS_CONNECT_HEADERS, 1),
      (CURLOPT_TCP_KEEPALIVE, 1),
      (CURLOPT_UPLOAD_BUFFERSIZE, CurlLimits.uploadBufferBytes),
    ]
    codes += numbers.map { ccurl_easy_setopt_long(handle, $0.0, $0.1) }
    var texts: [(CURLoption, String?)] = [
      (CURLOPT_PROTOCOLS_STR, "https"),
      // The authorities are the target's: `equipTLS`.
      (CURLOPT_CAINFO, nil),
      (CURLOPT_CAPATH, nil),
      // An empty proxy also switches the environment's off.
      (CURLOPT_PROXY, settings.proxy?.url ?? ""),
      // Nor do its exceptions count: what is configured to go through a proxy never goes past it.
      (CURLOPT_NOPROXY, ""),
    ]
    if let login = settings.proxy?.login {
      texts += [(CURLOPT_PROXYUSERNAME, login.user), (CURLOPT_PROXYPASSWORD, login.password)]
    }
    for (option, text) in texts {
      codes.append(
        text.map { ccurl_easy_setopt_pointer(handle, option, $0) }
          ?? ccurl_easy_setopt_pointer(handle, option, nil))
    }
    return codes.allSatisfy { $0 == CURLE_OK }
  }

  /// Whether libcurl may send this request now, on the connection with this port at our end.
  fileprivate func begins(onPort port: UInt16) -> Bool {
    // It was sent already, and libcurl would do so again.
    guard connection == nil else { return false }
    let connection = connections.connection(
      onPort: port, socket: sockets.bound(to: port), session: ccurl_easy_openssl(handle))
    guard !isProbe else {
      hasConnected = true
      connection.isPassing = connections.isOneByOne
      return false
    }
    let waitedNs = sockets.loop.nowNs &- startedNs
    guard !connection.isCut, connection.isProven || connection.inFlight == 0,
      connections.isOneByOne || waitedNs <= CurlLimits.waitMsMax &* 1_000_000
    else { return false }
    self.connection = connection
    sockets.noteMovement()
    connections.begin(on: connection)
    return true
  }
}

private func transfer(_ context: UnsafeMutableRawPointer?) -> CurlTransfer {
  Unmanaged<CurlTransfer>.fromOpaque(context!).takeUnretainedValue()
}

private func sockets(_ context: UnsafeMutableRawPointer?) -> CurlSockets {
  Unmanaged<CurlSockets>.fromOpaque(context!).takeUnretainedValue()
}

private func receivedBody(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  let length = size * count
  transfer(context).sockets.noteMovement()
  return transfer(context).answer.append(UnsafeRawBufferPointer(start: bytes, count: length))
    ? length : 0
}

private func receivedHeader(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  transfer(context).sockets.noteMovement()
  transfer(context).answer.note(UnsafeRawBufferPointer(start: bytes, count: size * count))
  return size * count
}

private func readBody(
  _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  let taken = transfer(context).upload.take(
    into: UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
  if taken > 0 { transfer(context).sockets.noteMovement() }
  return taken
}

/// libcurl rewinds a body to send a request again, which `begins` then forbids. To refuse here would cost
/// the connection that was opened for it.
private func allowRewinding(
  _ context: UnsafeMutableRawPointer?, _ offset: curl_off_t, _ origin: CInt
) -> CInt { CURL_SEEKFUNC_OK }

private func mayBegin(
  _ context: UnsafeMutableRawPointer?, _ peer: UnsafeMutablePointer<CChar>?,
  _ own: UnsafeMutablePointer<CChar>?, _ peerPort: CInt, _ ownPort: CInt
) -> CInt {
  transfer(context).begins(onPort: UInt16(truncatingIfNeeded: ownPort))
    ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

private func openSocket(
  _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype,
  _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
  let type = address!.pointee.socktype | CInt(SOCK_CLOEXEC.rawValue)
  let descriptor = socket(address!.pointee.family, type, address!.pointee.protocol)
  if descriptor >= 0 {
    sockets(context).opened(descriptor)
  } else {
    sockets(context).failed(SystemError("socket", errno: errno))
  }
  return descriptor
}

private func closeSocket(_ context: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t) -> CInt {
  sockets(context).closes(descriptor)
  return close(descriptor)
}

private func equipTLS(
  _ handle: UnsafeMutableRawPointer?, _ tls: UnsafeMutableRawPointer?,
  _ context: UnsafeMutableRawPointer?
) -> CURLcode {
  do throws(TLSError) {
    try transfer(context).target.equip(tls!)
    return CURLE_OK
  } catch {
    return CURLE_SSL_CERTPROBLEM
  }
}
