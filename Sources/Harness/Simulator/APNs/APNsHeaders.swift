/// The header fields of a request that APNs looks at; the buffers live as long as the request.
struct APNsHeaders {
  var authorization: UnsafeRawBufferPointer?
  var topic: UnsafeRawBufferPointer?
  var pushType: UnsafeRawBufferPointer?
  var priority: UnsafeRawBufferPointer?
  var expiration: UnsafeRawBufferPointer?
  var collapseID: UnsafeRawBufferPointer?
  var id: UnsafeRawBufferPointer?
  var hasDuplicates = false

  /// The names of those that say something of a push.
  static let names = [
    "apns-topic", "apns-push-type", "apns-priority", "apns-expiration", "apns-collapse-id",
    "apns-id",
  ]

  /// Takes one header field; the length tells nearly all names apart before they are compared.
  mutating func take(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    switch name.count {
    case 7 where name.equals("apns-id"): set(\.id, value)
    case 10 where name.equals("apns-topic"): set(\.topic, value)
    case 13 where name.equals("authorization"): set(\.authorization, value)
    case 13 where name.equals("apns-priority"): set(\.priority, value)
    case 14 where name.equals("apns-push-type"): set(\.pushType, value)
    case 15 where name.equals("apns-expiration"): set(\.expiration, value)
    case 16 where name.equals("apns-collapse-id"): set(\.collapseID, value)
    default: break
    }
  }

  private mutating func set(
    _ field: WritableKeyPath<APNsHeaders, UnsafeRawBufferPointer?>,
    _ value: UnsafeRawBufferPointer
  ) {
    if self[keyPath: field] != nil { hasDuplicates = true }
    self[keyPath: field] = value
  }
}
