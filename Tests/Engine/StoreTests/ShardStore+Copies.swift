import Redis
import Testing

@testable import Store

/// What calls beside large values copy, in bytes: milliseconds are the machine's.
extension ShardStore {
  /// What a call may leave in the memory of the functions that copies nothing large there.
  static let copiedBytesMax = 1 << 20

  private func number(_ section: String, _ name: String) async throws -> Int {
    let information = try await redis("INFO", section).string ?? ""
    let line = information.split(whereSeparator: \.isNewline).first { $0.hasPrefix("\(name):") }
    return try #require(line.flatMap { Int($0.dropFirst(name.count + 1)) })
  }

  /// Bytes that the body left in the memory of the functions.
  func copied(_ body: () async throws -> Void) async throws -> Int {
    let before = try await number("memory", "used_memory_vm_functions")
    try await body()
    return try await number("memory", "used_memory_vm_functions") - before
  }

  /// Bytes that Redis sent.
  func sent(_ body: () async throws -> Void) async throws -> Int {
    let before = try await number("stats", "total_net_output_bytes")
    try await body()
    return try await number("stats", "total_net_output_bytes") - before
  }
}
