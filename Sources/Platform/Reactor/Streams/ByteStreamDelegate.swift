/// The calls by which a stream tells its owner of itself; every call comes on the loop.
package protocol ByteStreamDelegate: AnyObject {
  /// TCP, TLS and ALPN are settled.
  func streamDidOpen(_ stream: ByteStream)

  /// Bytes arrived; they are valid during the call only.
  func stream(_ stream: ByteStream, didRead bytes: UnsafeRawBufferPointer)

  /// Called at each flush while less than `ReactorLimits.outputLowWaterBytes` wait: write more now,
  /// or nothing.
  func streamFillsOutput(_ stream: ByteStream)

  /// The stream ended, or never opened; called exactly once.
  /// - Parameter failure: nil when either side closed in order.
  func stream(_ stream: ByteStream, didCloseWith failure: StreamFailure?)
}
