/// Redis is set up so that work would surely be lost, and the configuration does not say that this is accepted.
package struct UnsafeRedis: Error, CustomStringConvertible {
  /// Names the setting, what it costs and what to do.
  let sentence: String
  /// The section of the configuration that says where it is.
  var section = "redis"

  package var description: String {
    "\(sentence); to start all the same, write accepted_risks: eviction into the section \(section)"
  }
}
