import COpenSSL

/// The text that OpenSSL writes into a memory BIO.
enum OpenSSLText {
  static func collect(
    _ write: (OpaquePointer) -> CInt
  ) throws(LocalServiceError) -> String {
    String(decoding: try collectBytes(write), as: UTF8.self)
  }

  static func collectBytes(
    _ write: (OpaquePointer) -> CInt
  ) throws(LocalServiceError) -> [UInt8] {
    guard let bio = BIO_new(BIO_s_mem()) else { throw .openSSL("cannot make a buffer") }
    defer { BIO_free(bio) }
    guard write(bio) == 1 else { throw .openSSL("cannot encode") }
    var start: UnsafeMutablePointer<CChar>?
    let count = copenssl_bio_get_mem_data(bio, &start)
    return Array(UnsafeRawBufferPointer(start: start, count: count))
  }
}

extension LocalServiceError {
  /// A failed OpenSSL call, with the library's own reason.
  static func openSSL(_ attempt: String) -> LocalServiceError {
    var reason = [CChar](repeating: 0, count: 256)
    ERR_error_string_n(ERR_get_error(), &reason, reason.count)
    ERR_clear_error()
    return LocalServiceError(
      "\(attempt): \(reason.withUnsafeBufferPointer { String(cString: $0.baseAddress!) })")
  }
}
