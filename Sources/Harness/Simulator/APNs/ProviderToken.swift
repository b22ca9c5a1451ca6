/// A provider token that was verified once; requests carrying the same text share it.
final class ProviderToken {
  let owner: ProviderTokenOwner
  let issuedAtSeconds: Int64
  /// Tells the owner's tokens apart.
  let serial: Int

  init(owner: ProviderTokenOwner, issuedAtSeconds: Int64, serial: Int) {
    self.owner = owner
    self.issuedAtSeconds = issuedAtSeconds
    self.serial = serial
  }
}
