internal import Model

/// An accepted push while its request lives: the buffers point into it.
struct Acceptance {
  let network: Network
  let token: UnsafeRawBufferPointer
  let topic: UnsafeRawBufferPointer
  let bodyHash: UInt64
}
