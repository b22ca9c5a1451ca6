internal import CNGHTTP2

/// A server session whose callbacks reach the connection; its SETTINGS are queued.
func makeServerSession(for connection: ServerConnection) -> OpaquePointer? {
  var callbacks: OpaquePointer?
  nghttp2_session_callbacks_new(&callbacks)
  defer { nghttp2_session_callbacks_del(callbacks) }
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, beganHeaders)
  nghttp2_session_callbacks_set_on_header_callback(callbacks, receivedField)
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, receivedBody)
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, receivedRequestFrame)
  nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, receivedInvalidFrame)
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, closedRequestStream)

  var option: OpaquePointer?
  nghttp2_option_new(&option)
  defer { nghttp2_option_del(option) }
  nghttp2_option_set_no_closed_streams(option, 1)
  if !connection.settings.opensWindows { nghttp2_option_set_no_auto_window_update(option, 1) }
  nghttp2_option_set_stream_reset_rate_limit(
    option, connection.settings.resetBurst, connection.settings.resetsPerSecond)

  var session: OpaquePointer?
  nghttp2_session_server_new2(
    &session, callbacks, Unmanaged.passUnretained(connection).toOpaque(), option)
  var entry = nghttp2_settings_entry(
    settings_id: CInt(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue),
    value: connection.settings.maxConcurrentStreams)
  nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), &entry, 1)
  return session
}

private func connection(_ context: UnsafeMutableRawPointer?) -> ServerConnection {
  Unmanaged<ServerConnection>.fromOpaque(context!).takeUnretainedValue()
}

private func request(_ session: OpaquePointer?, _ streamID: Int32) -> ServerRequest? {
  guard let data = nghttp2_session_get_stream_user_data(session, streamID) else { return nil }
  return Unmanaged<ServerRequest>.fromOpaque(data).takeUnretainedValue()
}

private func beganHeaders(
  _ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?,
  _ context: UnsafeMutableRawPointer?
) -> CInt {
  guard frame!.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else { return 0 }
  let streamID = frame!.pointee.hd.stream_id
  // The connection owns the object for as long as the session lives.
  let request = connection(context).beginRequest(streamID: streamID)
  nghttp2_session_set_stream_user_data(
    session, streamID, Unmanaged.passUnretained(request).toOpaque())
  return 0
}

private func receivedField(
  _ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?,
  _ name: UnsafePointer<UInt8>?, _ nameLength: Int, _ value: UnsafePointer<UInt8>?,
  _ valueLength: Int, _ flags: UInt8, _ context: UnsafeMutableRawPointer?
) -> CInt {
  guard let request = request(session, frame!.pointee.hd.stream_id) else { return 0 }
  let fits = request.appendField(
    name: UnsafeRawBufferPointer(start: name, count: nameLength),
    value: UnsafeRawBufferPointer(start: value, count: valueLength))
  return fits ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
}

private func receivedBody(
  _ session: OpaquePointer?, _ flags: UInt8, _ streamID: Int32, _ data: UnsafePointer<UInt8>?,
  _ length: Int, _ context: UnsafeMutableRawPointer?
) -> CInt {
  guard let request = request(session, streamID) else { return 0 }
  if !request.appendBody(UnsafeRawBufferPointer(start: data, count: length)) {
    connection(context).reset(request, errorCode: NGHTTP2_ENHANCE_YOUR_CALM.rawValue)
  }
  return 0
}

private func receivedRequestFrame(
  _ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?,
  _ context: UnsafeMutableRawPointer?
) -> CInt {
  let header = frame!.pointee.hd
  let type = UInt32(header.type)
  guard type == NGHTTP2_HEADERS.rawValue || type == NGHTTP2_DATA.rawValue,
    let request = request(session, header.stream_id)
  else { return 0 }
  let connection = connection(context)
  if type == NGHTTP2_HEADERS.rawValue {
    connection.delegate.connection(connection, receivedHeadersOf: request)
  }
  let isWhole = header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
  if isWhole && !request.isAnswered && connection.isOpen {
    connection.delegate.connection(connection, received: request)
  }
  // Ends nghttp2's call when the delegate has closed the connection.
  return connection.isOpen ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
}

private func receivedInvalidFrame(
  _ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ error: CInt,
  _ context: UnsafeMutableRawPointer?
) -> CInt {
  let connection = connection(context)
  connection.delegate.connection(
    connection, sawViolation: String(cString: nghttp2_strerror(error)))
  return 0
}

private func closedRequestStream(
  _ session: OpaquePointer?, _ streamID: Int32, _ errorCode: UInt32,
  _ context: UnsafeMutableRawPointer?
) -> CInt {
  guard let request = request(session, streamID) else { return 0 }
  nghttp2_session_set_stream_user_data(session, streamID, nil)
  connection(context).endRequest(request)
  return 0
}

func readAnswerBody(
  _ session: OpaquePointer?, _ streamID: Int32, _ buffer: UnsafeMutablePointer<UInt8>?,
  _ length: Int, _ flags: UnsafeMutablePointer<UInt32>?,
  _ source: UnsafeMutablePointer<nghttp2_data_source>?, _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let request = request(session, streamID) else {
    return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
  }
  let count = min(length, request.answerBody.count - request.answerOffset)
  request.answerBody.withUnsafeBytes { bytes in
    UnsafeMutableRawBufferPointer(start: buffer, count: count).copyMemory(
      from: UnsafeRawBufferPointer(rebasing: bytes[request.answerOffset...].prefix(count)))
  }
  request.answerOffset += count
  if request.answerOffset == request.answerBody.count {
    flags!.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue)
  }
  return count
}
