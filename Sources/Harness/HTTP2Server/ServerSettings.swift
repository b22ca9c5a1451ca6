/// How a server connection behaves.
package struct ServerSettings {
  /// SETTINGS_MAX_CONCURRENT_STREAMS at the start.
  package var maxConcurrentStreams: UInt32 = 1000
  /// How many stream resets a client may cause before it is cut off, and how many more a second
  /// (the defence against rapid reset, CVE-2023-44487, as nghttp2 sets it by default).
  package var resetBurst: UInt64 = 1000
  package var resetsPerSecond: UInt64 = 33
  /// Whether the windows of what clients send are opened again as it is read (RFC 9113, 5.2).
  package var opensWindows = true

  package init() {}
}
