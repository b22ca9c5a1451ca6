/// A request as the simulated networks look at it; the buffers live as long as the request.
struct IncomingRequest {
  var method: UnsafeRawBufferPointer
  var path: UnsafeRawBufferPointer
  var headers: NetworkHeaders
  /// Nil while it has not come: the answer is early then.
  var body: UnsafeRawBufferPointer?
}
