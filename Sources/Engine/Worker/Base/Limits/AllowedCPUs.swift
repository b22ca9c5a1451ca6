internal import CLinux
internal import Glibc
internal import PushpoolConfiguration

/// The CPUs that this process may use. A container sees all of its machine's, and seldom may use them.
struct AllowedCPUs: Equatable {
  /// The CPUs of the machine that are online.
  let online: Int
  /// The CPUs that its threads may run on (sched_setaffinity(2), cpusets).
  let affinity: Int
  /// The CPUs whose time its control group may use together; nil where nothing bounds that.
  let quota: Double?

  init(online: Int, affinity: Int, quota: Double?) {
    self.online = online
    self.affinity = affinity
    self.quota = quota
  }

  /// Asks the system.
  init(_ group: ControlGroup) {
    online = max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN)))
    let allowed = Int(clinux_cpus_allowed())
    affinity = allowed > 0 ? allowed : online
    quota = group.cpus
  }

  /// As many lanes as find a CPU; a part of one counts as one.
  var lanes: Int {
    let most = Double(ConfigurationLimits.lanesMax)
    let share = quota.map { Int(min($0, most).rounded(.up)) } ?? .max
    return max(1, min(affinity, share, ConfigurationLimits.lanesMax))
  }

  /// The reason for that number, as the end of a sentence.
  var reason: String {
    let machine = "of \(online) CPU\(online == 1 ? "" : "s")"
    if let quota, quota < Double(affinity) {
      let text = quota == quota.rounded() ? "\(Int(quota))" : "\((quota * 100).rounded() / 100)"
      return "the control group may use the time of \(text) \(machine)"
    }
    return affinity < online
      ? "the process may run on \(affinity) \(machine)" : "the process may use all \(machine)"
  }
}
