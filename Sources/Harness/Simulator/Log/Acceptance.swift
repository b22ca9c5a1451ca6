internal import Model

/// The accepted part of a request, while that lives: the buffers point into it.
struct Acceptance {
  let network: Network
  let token: UnsafeRawBufferPointer
  let topic: UnsafeRawBufferPointer
  let bodyHash: UInt64
  /// The other tokens of a request to several; each is a push.
  var otherTokens: [UnsafeRawBufferPointer] = []
}
