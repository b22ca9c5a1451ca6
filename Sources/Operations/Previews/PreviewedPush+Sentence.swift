internal import Model
internal import Typesetting

extension PreviewedPush.Cause {
  /// For a person, to stand behind a colon.
  package func sentence(_ target: PreviewTarget) -> String {
    let network = target.network.rawValue
    return switch self {
    case .environmentExcluded:
      "the job is not for installations of \(target.environment.rawValue) (/environments)"
    case .noCredentials:
      "this configuration has no credentials for \(network) in \(target.environment.rawValue); a "
        + "worker that has them would send it"
    case .expired: "the job has expired (/expires_at)"
    case .notForNetwork: "the job has nothing for \(network): add a notification or a part for it"
    case .noDryRun: "the job's \"dry_run\" is true, and \(network) has no dry run"
    case .refused(let field): "\(field)"
    case .otherKind(let kind):
      "the job is for tokens of kind \(kind.rawValue), and this is one of another kind"
    case .filtered: "\(TraceCause.filtered.explanation) (/filter)"
    case .missingVariable(let name):
      "the job's variables have no value for {{\(name)}}, which has no default"
    case .unreadableVariables: TraceCause.unreadableVariables.explanation
    case .noVariablesHash: TraceCause.noVariablesHash.explanation
    case .payloadTooLarge(let size):
      "filled in it makes a \(network) \(size.part) of \(FigureText.count(size.bytes)) bytes, and "
        + "\(FigureText.count(size.bytesMax)) are allowed"
    }
  }
}
