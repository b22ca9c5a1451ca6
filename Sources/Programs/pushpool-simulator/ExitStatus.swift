import ArgumentParser
import LocalServices
import Simulator

/// The exit codes of sysexits(3) that the command uses; 64 is the argument parser's own.
enum ExitStatus {
  static let badInput = ExitCode(65)
  static let unavailable = ExitCode(69)
  static let configuration = ExitCode(78)

  static func of(_ error: SimulatorError) -> ExitCode {
    switch error.kind {
    case .configuration: configuration
    case .script: badInput
    case .unavailable: unavailable
    }
  }
}
