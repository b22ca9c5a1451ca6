internal import Model
internal import Providers

/// The entry of a destination in the directory, and what of it is at hand for each push.
struct DestinationIdentity {
  /// The number by which pushes name it.
  let number: Int
  /// The place among the destinations of its app.
  let place: Int
  /// The app, its network and environments there, and its rates.
  let entry: ProviderDirectory.Entry
  let provider: any PushProvider
  let authority: String
  let network: Network
  let heads = RequestHeads()

  init(_ entry: ProviderDirectory.Entry) {
    number = entry.number
    self.entry = entry
    provider = entry.provider
    authority = provider.destination.authority
    network = provider.network
    place = entry.place
  }
}
