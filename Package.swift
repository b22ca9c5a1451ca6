// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  // Non-Sendable objects that live on a lane keep their async methods on that lane.
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// The path of a push takes dozens of exclusive accesses, each checked at run time for 4 % of a push's
/// instructions in all. Debug builds, and with them all tests, keep the checks.
let pathOfAPush: [SwiftSetting] = [
  .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))
]

/// The storeys of the house, each a folder of Sources and of Tests. The engine stands on the domain and the platform, the
/// operations on these, the programs on all.
enum Storey: String {
  case platform = "Platform"
  case domain = "Domain"
  case engine = "Engine"
  case operations = "Operations"
  case programs = "Programs"
  /// What tests, the demo, benchmarks and chaos stand on.
  case harness = "Harness"
}

/// A library target of this package; arrows point down only (docs/internals/design.md).
func layer(
  _ name: String, in storey: Storey, _ dependencies: [Target.Dependency],
  resources: [Resource]? = nil,
  settings: [SwiftSetting] = []
) -> Target {
  // A storey of one room has no folder besides.
  let folder = storey.rawValue == name ? name : "\(storey.rawValue)/\(name)"
  return .target(
    name: name, dependencies: dependencies, path: "Sources/\(folder)",
    resources: resources, swiftSettings: swiftSettings + settings)
}

func tests(
  _ name: String, in storey: Storey, _ dependencies: [Target.Dependency],
  resources: [Resource]? = nil
) -> Target {
  .testTarget(
    name: name, dependencies: dependencies, path: "Tests/\(storey.rawValue)/\(name)",
    resources: resources, swiftSettings: swiftSettings)
}

let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
  name: "pushpool-workers",
  products: [
    .executable(name: "pushpool", targets: ["pushpool"]),
    .executable(name: "pushpool-simulator", targets: ["pushpool-simulator"]),
    .executable(name: "pushpool-bench", targets: ["pushpool-bench"]),
    .executable(name: "pushpool-chaos", targets: ["pushpool-chaos"]),
    // Gives processes of tests clocks of their own (LD_PRELOAD).
    .library(name: "clockshift", type: .dynamic, targets: ["CClockShift"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    // System libraries and small shims.
    .target(name: "CLinux", path: "Sources/Platform/CLinux"),
    .target(
      name: "COpenSSL", path: "Sources/Platform/COpenSSL",
      linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
    .target(
      name: "CCurl", path: "Sources/Platform/CCurl", linkerSettings: [.linkedLibrary("curl")]),
    .target(
      name: "CHiredis", path: "Sources/Platform/CHiredis",
      linkerSettings: [.linkedLibrary("hiredis")]),
    // Only ever preloaded: linked into a program it would take the place of its clocks.
    .target(
      name: "CClockShift", path: "Sources/Harness/CClockShift",
      linkerSettings: [.linkedLibrary("dl")]),
    .target(
      name: "CNGHTTP2", path: "Sources/Platform/CNGHTTP2",
      linkerSettings: [.linkedLibrary("nghttp2")]),

    // How figures and tables stand in lines of text.
    layer("Typesetting", in: .platform, []),

    // One socket-and-TLS layer under the codecs.
    layer("Reactor", in: .platform, ["CLinux", "COpenSSL"], settings: pathOfAPush),
    layer("Redis", in: .platform, ["Reactor", "CHiredis"], settings: pathOfAPush),
    layer("HTTP2", in: .platform, ["Reactor", "CNGHTTP2"], settings: pathOfAPush),
    layer("HTTPClient", in: .platform, ["Reactor", "CCurl"]),
    layer("CurlTransport", in: .platform, ["HTTP2", "HTTPClient", "Reactor", "CCurl"]),

    // Pure values: no C, no input or output.
    layer("Model", in: .domain, []),
    layer("Configuration", in: .domain, ["Model", .product(name: "Yams", package: "Yams")]),

    layer(
      "Store", in: .engine, ["Configuration", "Model", "Redis", "Reactor", "COpenSSL"],
      resources: [
        "Library/keys", "Library/libraries", "Library/library", "Library/limits", "Library/numbers",
        "Library/sections", "Library/types", "Library/walks",
        "Fleet/alarms", "Fleet/credentials", "Fleet/metrics", "Fleet/rates",
        "Fleet/route_alarms", "Fleet/routes",
        "Fleet/stepping", "Fleet/switches", "Fleet/workers",
        "Audiences/audience", "Audiences/index", "Audiences/indexing", "Audiences/reading",
        "Audiences/topics",
        "Chunks/chunk", "Chunks/chunks", "Chunks/fairness", "Chunks/leases", "Chunks/mass_death",
        "Chunks/promotion", "Chunks/ready", "Chunks/settlement",
        "DeadLetters/dead_letters",
        "Installations/badges", "Installations/bindings", "Installations/exporting",
        "Installations/installations", "Installations/mending", "Installations/variables",
        "Jobs/direct", "Jobs/jobs", "Jobs/loops", "Jobs/names", "Jobs/reconcile",
        "Jobs/refusals", "Jobs/rescuing", "Jobs/rounds", "Jobs/taking", "Jobs/waiting",
        "Traces/traces",
        "Work/streams", "Work/work",
      ].map { .embedInCode("Functions/\($0).lua") }
        + ["json", "nearest", "fields", "guard", "registration", "submission"].map {
          .embedInCode("Registration/\($0).lua")
        }),
    layer(
      "Providers", in: .engine,
      ["Model", "Configuration", "HTTPClient", "HTTP2", "Reactor", "COpenSSL"]),
    layer(
      "Worker", in: .engine,
      [
        "Store", "Providers", "HTTP2", "CurlTransport", "HTTPClient", "Configuration", "Model",
        "Redis", "Reactor", "CLinux",
        logging,
      ], settings: pathOfAPush),

    // What operators and backends read and do, for whatever shows it.
    layer(
      "Operations", in: .operations,
      [
        "Store", "Providers", "HTTPClient", "Redis", "Reactor", "Configuration", "Model",
        "Typesetting",
      ]),

    // The stand-in for the push networks, and what a test, a demo or a benchmark starts by itself.
    layer(
      "HTTP2Server", in: .harness, ["HTTP2", "Reactor", "CNGHTTP2"], settings: pathOfAPush),
    layer(
      "Simulator", in: .harness,
      ["LocalServices", "HTTP2Server", "Model", "Reactor", "COpenSSL"]),
    layer("LocalServices", in: .harness, ["Model", "Reactor", "CLinux", "COpenSSL"]),
    layer(
      "Stage", in: .harness,
      ["LocalServices", "Worker", "Store", "Redis", "Reactor", "Configuration"]),

    layer(
      "CommandLineInterface", in: .programs,
      [
        "Operations", "Worker", "Providers", "Store", "Redis", "Reactor", "Model", "Configuration",
        "Stage", "LocalServices", "Typesetting", "COpenSSL", "CLinux", arguments, logging,
      ]),
    layer(
      "Bench", in: .harness,
      [
        "Stage", "Store", "Redis", "Reactor", "Model", "Configuration", "Providers", "HTTPClient",
        "LocalServices", "Typesetting", arguments,
      ]),
    layer(
      "Chaos", in: .harness,
      [
        "Typesetting", "Stage", "Worker", "Store", "Redis", "Reactor", "Model", "LocalServices",
        arguments,
      ]),
    .executableTarget(
      name: "pushpool", dependencies: ["CommandLineInterface"], path: "Sources/Programs/pushpool",
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "pushpool-simulator",
      dependencies: ["Simulator", "LocalServices", "Model", "Reactor", arguments],
      path: "Sources/Programs/pushpool-simulator",
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "pushpool-bench", dependencies: ["Bench", arguments],
      path: "Sources/Programs/pushpool-bench", swiftSettings: swiftSettings),
    .executableTarget(
      name: "pushpool-chaos", dependencies: ["Chaos", arguments],
      path: "Sources/Programs/pushpool-chaos", swiftSettings: swiftSettings),

    .target(
      name: "TestSupport", dependencies: ["LocalServices", "Reactor", "Redis"],
      path: "Tests/Harness/TestSupport",
      swiftSettings: swiftSettings),
    tests("TypesettingTests", in: .platform, ["Typesetting"]),
    tests("ReactorTests", in: .platform, ["Reactor", "LocalServices", "TestSupport"]),
    tests("RedisTests", in: .platform, ["Redis", "LocalServices", "Reactor", "TestSupport"]),
    tests(
      "HTTP2Tests", in: .platform,
      [
        "HTTP2", "HTTP2Server", "CurlTransport", "HTTPClient", "Reactor", "LocalServices",
        "TestSupport",
      ]),
    tests(
      "HTTPClientTests", in: .platform, ["HTTPClient", "Reactor", "LocalServices", "TestSupport"]),
    tests("ModelTests", in: .domain, ["Model"]),
    tests("ConfigurationTests", in: .domain, ["Configuration", "TestSupport"]),
    tests("StoreTests", in: .engine, ["Store", "LocalServices", "TestSupport"]),
    tests(
      "ProvidersTests", in: .engine, ["Providers", "LocalServices", "Simulator", "TestSupport"]),
    tests(
      "WorkerTests", in: .engine,
      [
        "Worker", "HTTP2", "LocalServices", "Model", "Providers", "Reactor", "Redis", "Store",
        "TestSupport", logging,
      ]),
    tests(
      "OperationsTests", in: .operations,
      [
        "Operations", "Configuration", "LocalServices", "Model", "Providers", "Reactor", "Redis",
        "Store", "TestSupport",
      ]),
    tests(
      "SimulatorTests", in: .harness,
      [
        "Simulator", "LocalServices", "HTTP2", "Model", "Reactor", "COpenSSL", "TestSupport",
        "pushpool-simulator",
      ]),
    tests("LocalServicesTests", in: .harness, ["LocalServices", "Model", "Reactor"]),
    tests(
      "StageTests", in: .harness,
      [
        "Stage", "Configuration", "LocalServices", "Model", "Redis", "Reactor", "Store",
        "TestSupport",
        "pushpool", "pushpool-simulator",
      ]),
    tests("BenchTests", in: .harness, ["Bench", "LocalServices", "Model", arguments]),
    tests(
      "ChaosTests", in: .harness,
      ["Chaos", "LocalServices", "Model", "Redis", "Store", "pushpool", "pushpool-simulator"]),
    tests(
      "CommandLineTests", in: .programs,
      [
        "CommandLineInterface", "Configuration", "LocalServices", "Model", "Reactor", "Redis",
        "Store", "TestSupport", "Typesetting", "pushpool", "pushpool-simulator", logging,
      ]),
    tests(
      "EndToEndTests", in: .programs,
      [
        "Worker", "Stage", "LocalServices", "Simulator", "Configuration", "Model", "Reactor",
        "Redis", "Store", "TestSupport", "pushpool", logging,
      ], resources: [.copy("BadJobs")]),
    tests(
      "FuzzTests", in: .programs,
      [
        "Configuration", "HTTP2", "HTTP2Server", "LocalServices", "Model", "Providers", "Reactor",
        "Redis", "Store", "TestSupport",
      ]),
  ]
)
