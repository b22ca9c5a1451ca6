/// Values of the header `apns-priority`.
package enum APNsPriority: Int, Sendable, Hashable, CaseIterable {
  case immediate = 10
  /// Considers the device's power; background pushes must use it.
  case conservesPower = 5
  /// Never wakes the device.
  case low = 1
}
