package import Model

/// The judgement of an app's networks on a job's content, before any device is tried.
package enum ContentCheck: Sendable, Equatable {
  /// There is something to send on one network at least.
  case sendable
  /// A network that the content is for would refuse it from every device.
  case refused(InvalidField)
  /// No network has anything to send; why, when there is a network in the job's environments.
  case empty(InvalidField?)
}

extension ProviderDirectory {
  /// Tells what the networks of the app make of a job's content, by rendering it in each of its languages. A short plain
  /// one passes every limit, so it is not rendered.
  /// - Parameters:
  ///   - textBytes: length of the job's text; nil when it is unknown, and the content is rendered.
  ///   - nowMs: the time of rendering and of the job's creation, in epoch milliseconds.
  package func check(
    _ content: JobContent, textBytes: Int?, app: String, nowMs: Int64
  ) -> ContentCheck {
    if let textBytes, textBytes <= ProviderLimits.plainJobBytesMax, content.isPlain {
      return hasProvider(app: app, in: content.environments) ? .sendable : .empty(nil)
    }
    var empty: InvalidField?
    var isSendable = false
    for provider in providers(app: app, in: content.environments) {
      do throws(InvalidField) {
        for (index, variant) in try MessageVariants(content).contents.enumerated() {
          do throws(InvalidField) {
            let rendered = try provider.render(variant, createdAtMs: nowMs, nowMs: nowMs)
            try provider.checkAdmission(of: variant, as: rendered)
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

extension JobContent {
  /// Whether it is a text for everybody that is shown on every network, and nothing that only one of them knows.
  var isPlain: Bool {
    guard let notification, notification.title != nil || notification.body != nil else {
      return false
    }
    return parts.isEmpty && event == nil && localized.isEmpty && variables == nil && !raisesBadge
      && topic == nil && collapseID == nil
  }
}
