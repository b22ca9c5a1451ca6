/// Bounds that APNs sets ("Generating a remote notification").
enum APNsLimits {
  static let payloadBytesMax = 4_096
  static let voIPPayloadBytesMax = 5_120
}
