internal import COpenSSL

/// AES-256 in Galois/Counter Mode (NIST SP 800-38D): what is encrypted cannot be changed unnoticed, nor used in another context.
enum AES256GCM {
  static let keyBytes = 32
  static let nonceBytes = 12
  static let tagBytes = 16

  /// Looked up once: by its name OpenSSL looks through its providers each time. Never changed, and kept for good.
  private nonisolated(unsafe) static let cipher = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)

  /// The text encrypted, and its tag behind it.
  /// - Parameters:
  ///   - nonce: of `nonceBytes`; never twice with the same key.
  ///   - context: what has to be the same when it is opened.
  static func seal(
    _ plain: [UInt8], key: [UInt8], nonce: [UInt8], context: [UInt8]
  ) -> [UInt8] {
    precondition(
      key.count == keyBytes && nonce.count == nonceBytes, "a key or nonce of another size")
    guard let cipherContext = EVP_CIPHER_CTX_new() else { preconditionFailure("no memory") }
    defer { EVP_CIPHER_CTX_free(cipherContext) }
    var sealed = [UInt8](repeating: 0, count: plain.count + tagBytes)
    var tag = [UInt8](repeating: 0, count: tagBytes)
    var (length, ending) = (CInt(0), CInt(0))
    let isDone =
      EVP_EncryptInit_ex(cipherContext, cipher, nil, key, nonce) == 1
      && EVP_EncryptUpdate(cipherContext, nil, &length, context, CInt(context.count)) == 1
      && EVP_EncryptUpdate(cipherContext, &sealed, &length, plain, CInt(plain.count)) == 1
      // Of a stream cipher nothing is left at the end; the tag's place takes what OpenSSL might write.
      && EVP_EncryptFinal_ex(cipherContext, &tag, &ending) == 1
      && EVP_CIPHER_CTX_ctrl(cipherContext, EVP_CTRL_AEAD_GET_TAG, CInt(tagBytes), &tag) == 1
    precondition(isDone && Int(length) == plain.count, "OpenSSL has no AES-256-GCM")
    sealed.replaceSubrange(plain.count..., with: tag)
    return sealed
  }

  /// The text that was sealed; nil when it, the key, the nonce or the context is another one.
  static func open(
    _ sealed: [UInt8], key: [UInt8], nonce: [UInt8], context: [UInt8]
  ) -> [UInt8]? {
    guard key.count == keyBytes, nonce.count == nonceBytes, sealed.count >= tagBytes,
      let cipherContext = EVP_CIPHER_CTX_new()
    else { return nil }
    defer {
      EVP_CIPHER_CTX_free(cipherContext)
      ERR_clear_error()
    }
    let count = sealed.count - tagBytes
    var tag = Array(sealed[count...])
    // With room for the tag: OpenSSL must have a place to write to, also for an empty text.
    var plain = [UInt8](repeating: 0, count: sealed.count)
    var (length, ending) = (CInt(0), CInt(0))
    guard EVP_DecryptInit_ex(cipherContext, cipher, nil, key, nonce) == 1,
      EVP_DecryptUpdate(cipherContext, nil, &length, context, CInt(context.count)) == 1,
      EVP_DecryptUpdate(cipherContext, &plain, &length, sealed, CInt(count)) == 1,
      EVP_CIPHER_CTX_ctrl(cipherContext, EVP_CTRL_AEAD_SET_TAG, CInt(tagBytes), &tag) == 1
    else { return nil }
    var rest = [UInt8](repeating: 0, count: tagBytes)
    guard EVP_DecryptFinal_ex(cipherContext, &rest, &ending) == 1, Int(length) == count else {
      return nil
    }
    plain.removeLast(plain.count - count)
    return plain
  }
}
