internal import CNGHTTP2
internal import Glibc
internal import Reactor

/// A client session whose callbacks reach the connection; its SETTINGS are queued.
func makeClientSession(for connection: ClientConnection) -> OpaquePointer? {
  var callbacks: OpaquePointer?
  nghttp2_session_callbacks_new(&callbacks)
  defer { nghttp2_session_callbacks_del(callbacks) }
  nghttp2_session_callbacks_set_on_header_callback(callbacks, receivedHeader)
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, receivedData)
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, receivedFrame)
  nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, couldNotSendFrame)
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, closedStream)
  nghttp2_session_callbacks_set_error_callback2(callbacks, explainedError)

  var option: OpaquePointer?
  nghttp2_option_new(&option)
  defer { nghttp2_option_del(option) }
  // Closed streams are of use to priority trees only; keeping them costs memory.
  nghttp2_option_set_no_closed_streams(option, 1)

  var session: OpaquePointer?
  nghttp2_session_client_new3(
    &session, callbacks, Unmanaged.passUnretained(connection).toOpaque(), option,
    connection.memory.map { cnghttp2_pool_memory($0) })
  var settings = [
    nghttp2_settings_entry(
      settings_id: CInt(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0),
    nghttp2_settings_entry(
      settings_id: CInt(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: 0),
  ]
  nghttp2_submit_settings(
    session, UInt8(NGHTTP2_FLAG_NONE.rawValue), &settings, settings.count)
  return session
}

private func connection(_ context: UnsafeMutableRawPointer?) -> ClientConnection {
  Unmanaged<ClientConnection>.fromOpaque(context!).takeUnretainedValue()
}

private func receivedHeader(
  _ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?,
  _ name: UnsafePointer<UInt8>?, _ nameLength: Int, _ value: UnsafePointer<UInt8>?,
  _ valueLength: Int, _ flags: UInt8, _ context: UnsafeMutableRawPointer?
) -> CInt {
  // Five headers matter: `:status`, `retry-after`, `date`, `content-type` and `x-rate-limit-reset`, told apart by their
  // lengths first.
  guard
    nameLength == 7 || nameLength == 11 || nameLength == 4 || nameLength == 12 || nameLength == 18
  else { return 0 }
  let connection = connection(context)
  guard let index = connection.slotIndex(frame!.pointee.hd.stream_id) else { return 0 }
  if nameLength == 7, memcmp(name!, ":status", 7) == 0 {
    // nghttp2 has checked that it is three digits. A 1xx is followed by the real one.
    let digits = value!
    connection.slots[index].status =
      Int32(digits[0] &- 48) * 100 + Int32(digits[1] &- 48) * 10 + Int32(digits[2] &- 48)
  } else if nameLength == 11, memcmp(name!, "retry-after", 11) == 0 {
    connection.slots[index].retryAfter.note(
      UnsafeRawBufferPointer(start: value, count: valueLength))
  } else if nameLength == 4, connection.slots[index].status != 200, memcmp(name!, "date", 4) == 0 {
    connection.slots[index].retryAfter.noteDate(
      UnsafeRawBufferPointer(start: value, count: valueLength))
  } else if nameLength == 12, memcmp(name!, "content-type", 12) == 0 {
    connection.slots.noteType(
      UnsafeRawBufferPointer(start: value, count: valueLength), of: index)
  } else if nameLength == 18, connection.slots[index].status == 429,
    memcmp(name!, "x-rate-limit-reset", 18) == 0
  {
    connection.slots[index].retryAfter.noteRateReset(
      UnsafeRawBufferPointer(start: value, count: valueLength))
  }
  return 0
}

private func receivedData(
  _ session: OpaquePointer?, _ flags: UInt8, _ streamID: Int32, _ data: UnsafePointer<UInt8>?,
  _ length: Int, _ context: UnsafeMutableRawPointer?
) -> CInt {
  let connection = connection(context)
  guard let index = connection.slotIndex(streamID) else { return 0 }
  let bytes = UnsafeRawBufferPointer(start: data, count: length)
  if connection.slots[index].status == 200, connection.isRecognised(bytes, index) { return 0 }
  connection.slots.appendBody(bytes, to: index)
  return 0
}

private func receivedFrame(
  _ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?,
  _ context: UnsafeMutableRawPointer?
) -> CInt {
  let header = frame!.pointee.hd
  let isLast = header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
  let isAck = header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0
  switch UInt32(header.type) {
  case NGHTTP2_HEADERS.rawValue:
    // Told when its block is complete, with all that continues it. A 1xx is followed by the real one.
    let connection = connection(context)
    guard let index = connection.slotIndex(header.stream_id) else { return 0 }
    if connection.slots[index].status >= 200 { connection.slots[index].hasHeaders = true }
    connection.slots[index].isEnded = isLast
  case NGHTTP2_DATA.rawValue where isLast:
    let connection = connection(context)
    guard let index = connection.slotIndex(header.stream_id) else { return 0 }
    connection.slots[index].isEnded = true
  case NGHTTP2_RST_STREAM.rawValue:
    // The stream's close follows.
    let connection = connection(context)
    if let index = connection.slotIndex(header.stream_id) {
      connection.slots[index].isReset = true
    }
  case NGHTTP2_SETTINGS.rawValue where !isAck:
    let connection = connection(context)
    let isFirst = connection.streamsAllowed == nil
    let allowed = nghttp2_session_get_remote_settings(
      session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
    connection.allowance.streamsAllowed = Int(min(allowed, UInt32(Int32.max)))
    if isFirst { connection.owner.connectionIsReady(connection) }
  case NGHTTP2_GOAWAY.rawValue:
    let goAway = frame!.pointee.goaway
    let data = UnsafeBufferPointer(start: goAway.opaque_data, count: goAway.opaque_data_len)
    let connection = connection(context)
    connection.noteGoAway(
      errorCode: goAway.error_code, lastStreamID: goAway.last_stream_id,
      debugData: String(
        decoding: data.prefix(HTTP2Limits.debugDataBytesMax), as: UTF8.self))
  default: break
  }
  return connection(context).callbackResult
}

/// A request that nghttp2 held back, as after a GOAWAY, was never written.
private func couldNotSendFrame(
  _ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ error: CInt,
  _ context: UnsafeMutableRawPointer?
) -> CInt {
  guard UInt32(frame!.pointee.hd.type) == NGHTTP2_HEADERS.rawValue else { return 0 }
  let connection = connection(context)
  if let index = connection.slots.find(streamID: frame!.pointee.hd.stream_id) {
    nghttp2_session_set_stream_user_data(session, frame!.pointee.hd.stream_id, nil)
    connection.finish(index, .notSent)
  }
  return 0
}

private func closedStream(
  _ session: OpaquePointer?, _ streamID: Int32, _ errorCode: UInt32,
  _ context: UnsafeMutableRawPointer?
) -> CInt {
  let connection = connection(context)
  guard let index = connection.slotIndex(streamID) else { return 0 }
  guard connection.slots[index].streamID == streamID else { return 0 }
  connection.finish(
    index, connection.disposition(of: connection.slots[index], errorCode: errorCode))
  return connection.callbackResult
}

/// nghttp2's own words about what the peer did wrong; for people, not for decisions.
private func explainedError(
  _ session: OpaquePointer?, _ code: CInt, _ message: UnsafePointer<CChar>?, _ length: Int,
  _ context: UnsafeMutableRawPointer?
) -> CInt {
  let text = UnsafeRawBufferPointer(start: message, count: length)
  connection(context).ending.peerError = String(
    decoding: text.prefix(HTTP2Limits.debugDataBytesMax), as: UTF8.self)
  return 0
}

func readRequestBody(
  _ session: OpaquePointer?, _ streamID: Int32, _ buffer: UnsafeMutablePointer<UInt8>?,
  _ length: Int, _ flags: UnsafeMutablePointer<UInt32>?,
  _ source: UnsafeMutablePointer<nghttp2_data_source>?, _ context: UnsafeMutableRawPointer?
) -> Int {
  let connection = connection(context)
  let index = Int32(Int(bitPattern: source!.pointee.ptr))
  guard connection.slots[index].streamID == streamID else {
    // Its request has ended meanwhile: nothing may be read from pieces that are gone.
    return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
  }
  let count = connection.slots[index].body.take(
    into: UnsafeMutableRawBufferPointer(start: buffer, count: length))
  if connection.slots[index].body.isEmpty {
    flags!.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue)
  }
  return count
}

extension ClientConnection {
  /// Ends nghttp2's call when whoever heard of something has closed the connection meanwhile.
  fileprivate var callbackResult: CInt {
    stream.isOpen ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
  }

  /// Whether this piece of the body of a 200, or one before it, is what the server accepts by.
  fileprivate func isRecognised(_ bytes: UnsafeRawBufferPointer, _ index: Int32) -> Bool {
    if slots[index].isRecognised { return true }
    guard !slots.hasBody(index), settings.acceptedForm.isRecognised(bytes) else { return false }
    slots[index].isRecognised = true
    return true
  }

  /// The slot of a stream; nil when its request has ended already.
  fileprivate func slotIndex(_ streamID: Int32) -> Int32? {
    // What comes for a stream comes in a row: its headers, its end, its close.
    if slots[slots.recent].streamID == streamID { return slots.recent }
    let mark = Int(bitPattern: nghttp2_session_get_stream_user_data(session, streamID))
    guard mark != 0 else { return nil }
    slots.recent = Int32(mark - 1)
    return slots.recent
  }
}
