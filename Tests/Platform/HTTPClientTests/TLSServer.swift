import Foundation
import Glibc

/// `openssl s_server` with a certificate of its own for `localhost`.
final class TLSServer: Sendable {
  let port: UInt16
  let certificateFile: String
  private let directory: URL
  private let process: Process

  /// - Parameter hasCommonNameOnly: the name stands where no client looks for it any more.
  init(hasCommonNameOnly: Bool = false) async throws {
    directory = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    certificateFile = directory.appending(path: "cert.pem").path
    let keyFile = directory.appending(path: "key.pem").path
    let generator = Process()
    generator.executableURL = URL(filePath: "/usr/bin/openssl")
    generator.arguments = [
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
      keyFile, "-out", certificateFile, "-days", "2", "-subj", "/CN=localhost",
    ]
    if !hasCommonNameOnly {
      generator.arguments! += ["-addext", "subjectAltName=DNS:localhost"]
    }
    generator.standardError = FileHandle.nullDevice
    try generator.run()
    generator.waitUntilExit()

    process = Process()
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments = [
      "s_server", "-www", "-accept", "127.0.0.1:0", "-cert", certificateFile, "-key", keyFile,
    ]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    process.standardInput = Pipe()
    try process.run()
    // It prints "ACCEPT 127.0.0.1:<port>" once it listens.
    var text = ""
    var found: UInt16?
    while found == nil {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { throw CocoaError(.executableLoad) }
      text += String(decoding: data, as: UTF8.self)
      if let line = text.split(separator: "\n").dropLast(text.hasSuffix("\n") ? 0 : 1).first(
        where: { $0.hasPrefix("ACCEPT ") })
      {
        found = line.split(separator: ":").last.flatMap { UInt16($0) }
      }
    }
    port = found ?? 0
  }

  deinit {
    // It may have SIGTERM blocked, as the thread had that started it.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: directory)
  }
}
