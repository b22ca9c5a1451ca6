internal import ArgumentParser

/// The program that wrote a file of installations.
enum ImportFormat: String, CaseIterable, ExpressibleByArgument {
  case pushpool, parse, ncmb
}
