internal import Glibc
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import ProgramSetup
internal import PushpoolConfiguration
internal import ServiceLifecycle

/// One address that is listened at, and what answers there.
struct HTTPListener<Responder: HTTPResponder>: Service
where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
  private let application: Application<Responder>
  private let address: HostAndPort
  private let option: String

  /// - Parameters:
  ///   - purpose: what the log says is there.
  ///   - option: that chooses the address, for advice.
  init(
    _ responder: Responder, purpose: String, address: HostAndPort, option: String,
    connectionsMax: Int, state: ServingState, log: Logger
  ) {
    self.address = address
    self.option = option
    var configuration = ApplicationConfiguration(
      address: .hostname(address.host, port: Int(address.port)))
    configuration.availableConnectionsDelegate = ConnectionAllowance(
      max: connectionsMax, state.figures)
    application = Application(
      responder: responder,
      server: HTTPServerBuilder { GuardedChannel(responder: $0, state: state) },
      configuration: configuration,
      onServerRunning: { channel in
        // The port may be one that the system chose.
        let port = UInt16(clamping: channel.localAddress?.port ?? Int(address.port))
        log.notice(
          "listening for \(purpose)",
          metadata: ["address": "\(HostAndPort(host: address.host, port: port))"])
      }, logger: log.ofLibraries)
  }

  func run() async throws {
    do { try await application.run() } catch let error as IOError {
      throw failure(String(cString: strerror(error.errnoCode)), errno: error.errnoCode)
    } catch let error as SocketAddressError.UnknownHost {
      throw failure(error.errorDescription, errno: nil)
    }
  }

  private func failure(_ reason: String, errno number: CInt?) -> CommandFailure {
    switch number {
    case EADDRINUSE:
      CommandFailure(
        .unavailable,
        "cannot listen at \(address): another program does; end it, or choose another address with "
          + "\(option) HOST:PORT"
      )
    case EACCES:
      CommandFailure(
        .configuration,
        "cannot listen at \(address): \(reason); ports below 1024 need a right (CAP_NET_BIND_SERVICE): "
          + "choose another with \(option) HOST:PORT"
      )
    default:
      CommandFailure(
        .configuration,
        "cannot listen at \(address): \(reason); choose an address of this machine with "
          + "\(option) HOST:PORT"
      )
    }
  }
}

extension Logger {
  /// The log for what the libraries tell: only from warnings on, since all else is told by the server in its own words.
  var ofLibraries: Logger {
    var log = self
    log.logLevel = max(logLevel, .warning)
    return log
  }
}
