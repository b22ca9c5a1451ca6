import Model
import Redis

@testable import Store

extension StoreModel {
  /// The functions with the limits of the model, under the names that the store calls.
  static let library: FunctionLibrary = {
    let sound = StoreLibrary.library
    let limit = "INSTALLATIONS_PER_USER_MAX = "
    let parts = sound.source.split(separator: limit + String(Limits.installationsPerUserMax))
    precondition(parts.count == 2, "the limit is not where it was")
    return FunctionLibrary(
      name: "pushpool", version: sound.version,
      template: parts.joined(separator: limit + String(installationsPerUserMax)))
  }()
}
