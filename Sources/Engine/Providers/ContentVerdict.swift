package import Model

/// What the networks of an app make of a job's content before any device is tried.
package enum ContentVerdict: Sendable, Equatable {
  /// There is something to send on one network at least.
  case sendable
  /// A network that the content is for would refuse it from every device.
  case refused(InvalidField)
  /// No network has anything to send; why, when there is a network in the job's environments.
  case empty(InvalidField?)
}

extension ProviderDirectory {
  /// Renders the content, in each of its languages, for every network of the app, as a job's admission does.
  /// - Parameter nowMs: the time of rendering and of the job's creation, in epoch milliseconds.
  package func verdict(on content: JobContent, app: String, nowMs: Int64) -> ContentVerdict {
    var empty: InvalidField?
    var isSendable = false
    for position in positions(app: app, environments: content.environments) {
      let provider = entries[position].provider
      do throws(InvalidField) {
        for (index, variant) in try MessageVariants(content).contents.enumerated() {
          do throws(InvalidField) {
            _ = try provider.render(variant, createdAtMs: nowMs, nowMs: nowMs)
          } catch {
            guard index > 0, error.pointer == "/notification" else { throw error }
            // The common text was fine.
            throw InvalidField(
              pointer: "/localized/\(content.localized[index - 1].language.text)",
              message: error.message)
          }
        }
        isSendable = true
      } catch {
        guard !content.isFor(provider.network) else { return .refused(error) }
        empty = error
      }
    }
    return isSendable ? .sendable : .empty(empty)
  }
}
