import Model
import PushpoolConfiguration
import Simulator

/// Users of up to three devices: one of a user's pushes is tried again, and one is answered late.
enum TroubledDevices {
  static let worker = WorkerConfiguration.narrow(20, leaseSeconds: 1)

  /// - Parameter retries: how many answers say to try again.
  static func script(retries: Int) -> SimulatorScript {
    SimulatorScript.stage {
      var slow = ScriptRule()
      slow.tokenPrefix = "c0"
      slow.delayMs = 1_000
      $0.rules = [
        ScriptRule(
          tokenPrefix: "ff", status: 503, reason: "ServiceUnavailable", times: retries),
        slow,
      ]
    }
  }

  /// The devices of users u0, u1…
  static func of(users: Int) throws -> [Installation] {
    var devices: [Installation] = []
    for number in 0..<users {
      devices.append(try Devices.apns(number, user: "u\(number)"))
      if number % 2 == 0 {
        devices.append(try Devices.apns(number, user: "u\(number)", prefix: "ff"))
      }
      if number % 8 == 0 {
        devices.append(try Devices.apns(number, user: "u\(number)", prefix: "c0"))
      }
    }
    return devices
  }
}
