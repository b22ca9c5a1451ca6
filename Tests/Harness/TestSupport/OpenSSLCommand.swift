package import Foundation

/// The system's `openssl`, which makes keys and files as people have them: none is committed.
package enum OpenSSLCommand {
  package struct Failure: Error {
    package let arguments: [String]
  }

  /// What it writes to its output.
  /// - Parameter input: what it reads.
  @discardableResult
  package static func run(_ arguments: String..., input: Data = Data()) throws -> Data {
    try run(arguments, input: input)
  }

  /// What it writes to its output.
  @discardableResult
  package static func run(_ arguments: [String], input: Data = Data()) throws -> Data {
    let process = Process()
    let (output, feed) = (Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments = arguments
    process.standardInput = feed
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    // Keys are shorter than what a pipe holds.
    try feed.fileHandleForWriting.write(contentsOf: input)
    try feed.fileHandleForWriting.close()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure(arguments: arguments) }
    return data
  }
}
