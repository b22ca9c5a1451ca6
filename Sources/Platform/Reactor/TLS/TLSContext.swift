internal import COpenSSL
internal import Glibc

/// The settings that TLS connections share: TLS 1.2 or later, and for clients the peer's chain and
/// host name always verified. Immutable once made, so lanes share it.
package final class TLSContext: @unchecked Sendable {
  let raw: OpaquePointer
  let isServer: Bool
  /// The protocols offered or accepted by ALPN (RFC 7301), in order of preference; the handshake
  /// must settle on one of them unless the list is empty.
  fileprivate let alpnWire: [UInt8]

  private init(raw: OpaquePointer, isServer: Bool, alpn: [String]) {
    self.raw = raw
    self.isServer = isServer
    alpnWire = alpn.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
    _ = copenssl_ctx_set_min_proto_version(raw, TLS1_2_VERSION)
    _ = copenssl_ctx_set_mode(
      raw,
      Int(SSL_MODE_ENABLE_PARTIAL_WRITE) | Int(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER))
    // One read(2) fetches many records instead of two per record.
    _ = copenssl_ctx_set_read_ahead(raw, 1)
    SSL_CTX_set_default_read_buffer_len(raw, ReactorLimits.readBufferBytes)
    _ = copenssl_ctx_set_session_cache_mode(raw, Int(SSL_SESS_CACHE_OFF))
    // RFC 9113, 9.2.1; and a peer could have us compute for it again and again.
    copenssl_ctx_refuse_renegotiation(raw)
  }

  deinit { SSL_CTX_free(raw) }

  /// - Parameters:
  ///   - caFile: extra certificate authorities (PEM), trusted beside the system's.
  ///   - identity: what to show when the server asks for a client certificate.
  package static func client(
    caFile: String?, identity: ClientIdentity? = nil, alpn: [String] = []
  ) throws(TLSError) -> TLSContext {
    try client(trusting: TrustStore(caFile: caFile), identity: identity, alpn: alpn)
  }

  /// - Parameter identity: what to show when the server asks for a client certificate.
  package static func client(
    trusting trust: TrustStore, identity: ClientIdentity? = nil, alpn: [String] = []
  ) throws(TLSError) -> TLSContext {
    guard let raw = SSL_CTX_new(TLS_client_method()) else {
      throw TLSError.fromQueue("cannot make a TLS context")
    }
    let context = TLSContext(raw: raw, isServer: false, alpn: alpn)
    SSL_CTX_set_verify(raw, SSL_VERIFY_PEER, nil)
    SSL_CTX_set1_cert_store(raw, trust.raw)
    // Of thousands of connections that are open, few are busy.
    _ = copenssl_ctx_set_mode(raw, Int(SSL_MODE_RELEASE_BUFFERS))
    if !context.alpnWire.isEmpty {
      SSL_CTX_set_alpn_protos(raw, context.alpnWire, CUnsignedInt(context.alpnWire.count))
    }
    if let material = identity?.material { try Self.use(material, in: raw) }
    return context
  }

  /// - Parameter clientCAFile: when given, clients are asked for a certificate, and one that is shown
  ///   must come from these authorities; a client without one is let in.
  package static func server(
    certificateFile: String, keyFile: String, alpn: [String] = [], clientCAFile: String? = nil
  ) throws(TLSError) -> TLSContext {
    guard let raw = SSL_CTX_new(TLS_server_method()) else {
      throw TLSError.fromQueue("cannot make a TLS context")
    }
    let context = TLSContext(raw: raw, isServer: true, alpn: alpn)
    guard SSL_CTX_use_certificate_chain_file(raw, certificateFile) == 1 else {
      throw TLSError.fromQueue("cannot load the server certificate \(certificateFile)")
    }
    guard SSL_CTX_use_PrivateKey_file(raw, keyFile, SSL_FILETYPE_PEM) == 1 else {
      throw TLSError.fromQueue("cannot load the server key \(keyFile)")
    }
    if let clientCAFile {
      guard SSL_CTX_load_verify_locations(raw, clientCAFile, nil) == 1 else {
        throw TLSError.fromQueue("cannot load the client authority \(clientCAFile)")
      }
      SSL_CTX_set_verify(raw, SSL_VERIFY_PEER, nil)
    }
    if !context.alpnWire.isEmpty {
      SSL_CTX_set_alpn_select_cb(
        raw, selectProtocol, Unmanaged.passUnretained(context).toOpaque())
    }
    return context
  }

  /// Gives the context of another library's connection this one's authorities; the peer is verified as on our own.
  /// - Parameters:
  ///   - other: an `SSL_CTX *`.
  ///   - serverName: what the peer's certificate must carry.
  package func equip(
    _ other: UnsafeMutableRawPointer, serverName: String
  ) throws(TLSError) {
    try Self.restrict(other, serverName: serverName)
    let other = OpaquePointer(other)
    SSL_CTX_set1_cert_store(other, SSL_CTX_get_cert_store(raw))
    SSL_CTX_set_verify(other, SSL_VERIFY_PEER, nil)
  }

  /// Has the context of another library's connection refuse what our own refuse: a second handshake, and a certificate that
  /// carries the name as its common name only. Whom it trusts stays as it is.
  /// - Parameter other: an `SSL_CTX *`.
  package static func restrict(
    _ other: UnsafeMutableRawPointer, serverName: String
  ) throws(TLSError) {
    let other = OpaquePointer(other)
    copenssl_ctx_refuse_renegotiation(other)
    try expect(serverName, in: SSL_CTX_get0_param(other))
  }

  /// Whether the handshake of another library's connection settled on one of this context's protocols.
  /// - Parameter other: an `SSL *`.
  package func isProtocolAgreed(on other: UnsafeMutableRawPointer) -> Bool {
    guard !alpnWire.isEmpty else { return true }
    var selected: UnsafePointer<UInt8>?
    var length: CUnsignedInt = 0
    SSL_get0_alpn_selected(OpaquePointer(other), &selected, &length)
    let wire = [UInt8(length)] + UnsafeBufferPointer(start: selected, count: Int(length))
    var rest = alpnWire[...]
    while let count = rest.first {
      if rest.prefix(Int(count) + 1).elementsEqual(wire) { return true }
      rest = rest.dropFirst(Int(count) + 1)
    }
    return false
  }

  /// Has the peer's certificate checked for a host name or address. A common name counts for nothing (RFC 9525, 2).
  /// - Returns: whether it is a name.
  @discardableResult
  static func expect(
    _ serverName: String, in parameters: OpaquePointer?
  ) throws(TLSError) -> Bool {
    if X509_VERIFY_PARAM_set1_ip_asc(parameters, serverName) == 1 { return false }
    ERR_clear_error()
    X509_VERIFY_PARAM_set_hostflags(
      parameters,
      CUnsignedInt(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
    guard X509_VERIFY_PARAM_set1_host(parameters, serverName, 0) == 1 else {
      throw TLSError.fromQueue("cannot expect the server name \(serverName)")
    }
    return true
  }

  private static func use(
    _ material: ClientIdentity.Material, in raw: OpaquePointer
  ) throws(TLSError) {
    guard SSL_CTX_use_certificate(raw, material.certificate) == 1,
      SSL_CTX_use_PrivateKey(raw, material.key) == 1
    else { throw TLSError.fromQueue("cannot use the client certificate") }
    for extra in material.chain {
      X509_up_ref(extra)
      _ = copenssl_ctx_add_extra_chain_cert(raw, extra)
    }
  }

  /// Whether a finished handshake settled on a protocol of this context's list.
  func isProtocolAgreed(_ ssl: OpaquePointer) -> Bool {
    guard !alpnWire.isEmpty else { return true }
    var selected: UnsafePointer<UInt8>?
    var length: CUnsignedInt = 0
    SSL_get0_alpn_selected(ssl, &selected, &length)
    return length > 0
  }
}

private func selectProtocol(
  _ ssl: OpaquePointer?, _ out: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
  _ outLength: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?,
  _ offeredLength: CUnsignedInt, _ context: UnsafeMutableRawPointer?
) -> CInt {
  let server = Unmanaged<TLSContext>.fromOpaque(context!).takeUnretainedValue()
  return server.alpnWire.withUnsafeBufferPointer { supported in
    var chosen: UnsafeMutablePointer<UInt8>?
    let result = SSL_select_next_proto(
      &chosen, outLength, supported.baseAddress, CUnsignedInt(supported.count), offered,
      offeredLength)
    guard result == OPENSSL_NPN_NEGOTIATED else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    out?.pointee = UnsafePointer(chosen)
    return SSL_TLSEXT_ERR_OK
  }
}
