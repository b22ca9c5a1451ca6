internal import Configuration
internal import HTTP2
internal import HTTPClient
internal import Logging
internal import Model
internal import Providers

extension WorkerService {
  /// Says what is wrong with the linked libcurl, where pushes are to go over it.
  static func checkCurl(
    _ directory: ProviderDirectory, _ log: Logger
  ) throws(ConfigurationError) {
    let carried = directory.entries.filter { $0.provider.destination.transport == .curl }
    guard let first = carried.first else { return }
    if let unfitness = CurlLibrary.unfitness {
      throw ConfigurationError(
        file: "configuration", line: nil,
        field: "apps[\(first.app)].\(first.provider.network.rawValue).transport",
        message:
          "pushes cannot go over libcurl \(CurlLibrary.version): \(unfitness); use another libcurl, or "
          + "transport: native without a proxy where the network has it")
    }
    let reset = carried.filter {
      if case .empty = $0.provider.acceptedForm { true } else { false }
    }
    guard CurlLibrary.hasResetDefect, !reset.isEmpty else { return }
    log.warning(
      """
      libcurl \(CurlLibrary.version) carries pushes and resets every stream that is answered without a \
      body, as APNs accepts are; servers cut such a connection after about 1,000 pushes, and what is in \
      flight then may be sent twice. Use libcurl 8.0 or later, or transport: native
      """,
      metadata: [
        "destinations":
          "\(reset.map { "\($0.app)/\($0.provider.network.rawValue)" }.joined(separator: ", "))"
      ])
  }
}
