package import Model
package import Store

extension RedisSettings {
  /// Returns the findings that are unsafe and not accepted.
  package func risks(accepting accepted: Set<RedisRisk>) -> [Finding] {
    findings.filter { !accepted.contains($0.risk) }
  }
}
