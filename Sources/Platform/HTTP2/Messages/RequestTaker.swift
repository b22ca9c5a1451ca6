/// Where requests are submitted while a transport asks for them; valid during that call only.
package protocol RequestTaker: AnyObject {
  /// Submits one request.
  /// - Parameter path: copied; ignored when the head has a path of its own.
  /// - Returns: false when no more requests can be taken; this one was not.
  func submit(
    _ head: RequestHead, path: UnsafeRawBufferPointer, body: RequestBody, tag: UInt64
  ) -> Bool
}
