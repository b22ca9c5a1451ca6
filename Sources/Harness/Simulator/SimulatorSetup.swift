internal import Glibc
internal import Reactor

/// The needs of a server, of which any can be wrong before it listens: keys, certificates, files.
///
/// Unchecked Sendable: made on one thread, then handed to the loop and not used elsewhere.
struct SimulatorSetup: @unchecked Sendable {
  let options: SimulatorOptions
  let tls: TLSContext
  let networks: PushNetworks
  let log: AcceptLog?

  init(options: SimulatorOptions, script: SimulatorScript) throws(SimulatorError) {
    self.options = options
    do {
      tls = try TLSContext.server(
        certificateFile: options.certificateFile, keyFile: options.keyFile, alpn: ["h2"],
        clientCAFile: options.clientAuthorityFile)
    } catch {
      throw SimulatorError(.configuration, "\(error)")
    }
    networks = try PushNetworks(options, script: script)
    var log: AcceptLog?
    if let path = options.acceptLogFile { log = try AcceptLog(path: path) }
    self.log = log
  }
}
