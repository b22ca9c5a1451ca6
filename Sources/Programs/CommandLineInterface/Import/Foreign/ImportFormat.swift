internal import ArgumentParser

/// What wrote a file of installations.
enum ImportFormat: String, CaseIterable, ExpressibleByArgument {
  case pushpool, parse, ncmb
}
