import CCurl
import Glibc
import HTTP2
import Reactor

extension CurlTransfer {
  /// Sets what all requests of a pool have in common.
  /// - Returns: false when memory ran out.
  func configure(_ settings: ClientSettings) -> Bool {
    let context = Unmanaged.passUnretained(self).toOpaque()
    var codes = [
      ccurl_easy_setopt_pointer(handle, CURLOPT_PRIVATE, context),
      ccurl_easy_setopt_write(handle, receivedBody, context),
      ccurl_easy_setopt_header(handle, receivedHeader, context),
      ccurl_easy_setopt_read(handle, readBody, allowRewinding, context),
      ccurl_easy_setopt_prereq(handle, mayBegin, context),
      ccurl_easy_setopt_sockets(
        handle, openSocket, closeSocket, Unmanaged.passUnretained(pool).toOpaque()),
      ccurl_easy_setopt_tls(handle, equipTLS, Unmanaged.passUnretained(pool).toOpaque()),
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
      // The authorities are the pool's: `equipTLS`.
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
    let connection = pool.connection(onPort: port, carrying: self)
    guard !isProbe else {
      hasConnected = true
      connection.isPassing = pool.isOneByOne
      return false
    }
    let waitedNs = pool.loop.nowNs &- startedNs
    guard !connection.isCut, connection.isProven || connection.inFlight == 0,
      pool.isOneByOne || waitedNs <= CurlLimits.waitMsMax &* 1_000_000
    else { return false }
    self.connection = connection
    pool.movements += 1
    connection.inFlight += 1
    pool.begun += 1
    return true
  }

  /// - Returns: false when the rest of the answer is not wanted.
  fileprivate func appendBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let room = HTTP2Limits.answerBodyBytesMax - answerBody.count
    answerBody.append(contentsOf: bytes.prefix(room))
    isAnswerCut = bytes.count > room
    return !isAnswerCut
  }

  fileprivate func noteHeader(_ line: UnsafeRawBufferPointer) {
    // "HTTP/2 200" begins each answer, an interim one too.
    if line.count >= 10, memcmp(line.baseAddress!, "HTTP/", 5) == 0 {
      status = 0
      hasJSONType = false
      oddType = []
      guard let space = line.firstIndex(of: 0x20) else { return }
      for byte in line[(space + 1)...].prefix(3) where byte >= 48 && byte <= 57 {
        status = status * 10 + Int(byte - 48)
      }
    } else if line.count > 13, strncasecmp(line.baseAddress!, "content-type:", 13) == 0 {
      let value = Self.value(of: line, after: 13)
      hasJSONType = ContentType.isJSON(value)
      oddType = hasJSONType ? [] : Array(value.prefix(HTTP2Limits.contentTypeBytesMax))
    } else if line.count > 12, strncasecmp(line.baseAddress!, "retry-after:", 12) == 0 {
      retryAfter.note(Self.value(of: line, after: 12))
    } else if status == 429, line.count > 19,
      strncasecmp(line.baseAddress!, "x-rate-limit-reset:", 19) == 0
    {
      retryAfter.noteRateReset(Self.value(of: line, after: 19))
    } else if status != 200, line.count > 5, strncasecmp(line.baseAddress!, "date:", 5) == 0 {
      retryAfter.noteDate(Self.value(of: line, after: 5))
    }
  }

  /// Without the blanks around it and the end of the line.
  private static func value(
    of line: UnsafeRawBufferPointer, after nameBytes: Int
  ) -> UnsafeRawBufferPointer {
    let value = line[nameBytes...].drop { $0 <= 0x20 }.prefix { $0 >= 0x20 }
    let end = value.lastIndex { $0 > 0x20 }.map { $0 + 1 } ?? value.startIndex
    return UnsafeRawBufferPointer(rebasing: value[..<end])
  }
}

extension CurlPool {
  /// The connection with this port at our end.
  fileprivate func connection(onPort port: UInt16, carrying transfer: CurlTransfer)
    -> CurlConnection
  {
    if let known = connections.first(where: { $0.port == port }) { return known }
    let connection = CurlConnection(
      port: port, socket: sockets.first { Listener.boundPort($0) == port } ?? -1,
      nowNs: loop.nowNs)
    // libcurl offers HTTP/2 and HTTP/1.1, nothing else.
    let session = ccurl_easy_openssl(transfer.handle)
    isOneByOne = session.map { settings.tls?.isProtocolAgreed(on: $0) != true } ?? true
    openedUntold += 1
    connections.append(connection)
    return connection
  }
}

private func transfer(_ context: UnsafeMutableRawPointer?) -> CurlTransfer {
  Unmanaged<CurlTransfer>.fromOpaque(context!).takeUnretainedValue()
}

private func pool(_ context: UnsafeMutableRawPointer?) -> CurlPool {
  Unmanaged<CurlPool>.fromOpaque(context!).takeUnretainedValue()
}

private func receivedBody(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  let length = size * count
  transfer(context).pool.movements += 1
  return transfer(context).appendBody(UnsafeRawBufferPointer(start: bytes, count: length))
    ? length : 0
}

private func receivedHeader(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  transfer(context).pool.movements += 1
  transfer(context).noteHeader(UnsafeRawBufferPointer(start: bytes, count: size * count))
  return size * count
}

private func readBody(
  _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  let taken = transfer(context).bodyLeft.take(
    into: UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
  if taken > 0 { transfer(context).pool.movements += 1 }
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
    pool(context).sockets.insert(descriptor)
    pool(context).movements += 1
  } else {
    pool(context).failed(socket: SystemError("socket", errno: errno))
  }
  return descriptor
}

private func closeSocket(_ context: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t) -> CInt {
  pool(context).closed(socket: descriptor)
  return close(descriptor)
}

private func equipTLS(
  _ handle: UnsafeMutableRawPointer?, _ tls: UnsafeMutableRawPointer?,
  _ context: UnsafeMutableRawPointer?
) -> CURLcode {
  do throws(TLSError) {
    let pool = pool(context)
    try pool.settings.tls!.equip(tls!, serverName: pool.serverName)
    return CURLE_OK
  } catch {
    return CURLE_SSL_CERTPROBLEM
  }
}
