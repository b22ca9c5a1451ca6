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

/// A library target of this package; arrows point down only (docs/design.md).
func layer(
  _ name: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil,
  settings: [SwiftSetting] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, resources: resources,
    swiftSettings: swiftSettings + settings)
}

func tests(
  _ name: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil
) -> Target {
  .testTarget(
    name: name, dependencies: dependencies, resources: resources, swiftSettings: swiftSettings)
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
    .target(name: "CLinux"),
    .target(name: "COpenSSL", linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
    .target(name: "CCurl", linkerSettings: [.linkedLibrary("curl")]),
    .target(name: "CHiredis", linkerSettings: [.linkedLibrary("hiredis")]),
    // Only ever preloaded: linked into a program it would take the place of its clocks.
    .target(name: "CClockShift", linkerSettings: [.linkedLibrary("dl")]),
    .target(name: "CNGHTTP2", linkerSettings: [.linkedLibrary("nghttp2")]),

    // One socket-and-TLS layer under the codecs.
    layer("Reactor", ["CLinux", "COpenSSL"], settings: pathOfAPush),
    layer("Redis", ["Reactor", "CHiredis"], settings: pathOfAPush),
    layer("HTTP2", ["Reactor", "CNGHTTP2"], settings: pathOfAPush),
    layer("HTTPClient", ["CCurl"]),
    layer("CurlTransport", ["HTTP2", "HTTPClient", "Reactor", "CCurl"]),

    // Pure values: no C, no input or output.
    layer("Model", []),
    layer("Configuration", ["Model", .product(name: "Yams", package: "Yams")]),

    layer(
      "Store", ["Model", "Redis", "Reactor", "COpenSSL"],
      resources: [
        "limits", "library", "alarms", "switches", "rates", "metrics", "reading", "audience",
        "ready", "fairness", "chunk", "chunks", "leases", "promotion", "routes", "installations",
        "settlement", "jobs", "audit", "waiting", "dead_letters", "traces", "fleet",
      ].map { .embedInCode("Functions/\($0).lua") }),
    layer(
      "Providers", ["Model", "Configuration", "HTTPClient", "HTTP2", "Reactor", "COpenSSL"]),
    layer(
      "Worker",
      [
        "Store", "Providers", "HTTP2", "CurlTransport", "HTTPClient", "Configuration", "Model",
        "Redis", "Reactor", "CLinux",
        logging,
      ], settings: pathOfAPush),

    // The stand-in for the push networks, and what a test, a demo or a benchmark starts by itself.
    layer("Simulator", ["LocalServices", "HTTP2", "Model", "Reactor", "COpenSSL"]),
    layer("LocalServices", ["Reactor", "CLinux", "COpenSSL"]),

    layer(
      "CommandLineInterface",
      [
        "Worker", "Store", "Redis", "Reactor", "Model", "Configuration", "Simulator",
        "LocalServices", "COpenSSL", arguments, logging,
      ]),
    layer(
      "Bench",
      [
        "Worker", "Store", "Redis", "Reactor", "Model", "Configuration", "Providers", "HTTPClient",
        "LocalServices", arguments,
      ]),
    layer(
      "Chaos",
      [
        "Bench", "Worker", "Store", "Redis", "Reactor", "Model", "Configuration", "LocalServices",
        arguments,
      ]),
    .executableTarget(
      name: "pushpool", dependencies: ["CommandLineInterface"], swiftSettings: swiftSettings),
    .executableTarget(
      name: "pushpool-simulator",
      dependencies: ["Simulator", "LocalServices", "Model", "Reactor", arguments],
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "pushpool-bench", dependencies: ["Bench", arguments], swiftSettings: swiftSettings),
    .executableTarget(
      name: "pushpool-chaos", dependencies: ["Chaos", arguments], swiftSettings: swiftSettings),

    .target(
      name: "TestSupport", dependencies: ["LocalServices", "Reactor", "Redis"],
      path: "Tests/TestSupport",
      swiftSettings: swiftSettings),
    tests("ReactorTests", ["Reactor", "LocalServices", "TestSupport"]),
    tests("RedisTests", ["Redis", "LocalServices", "Reactor", "TestSupport"]),
    tests(
      "HTTP2Tests",
      ["HTTP2", "CurlTransport", "HTTPClient", "Reactor", "LocalServices", "TestSupport"]),
    tests("HTTPClientTests", ["HTTPClient"]),
    tests("ModelTests", ["Model"]),
    tests("ConfigurationTests", ["Configuration"]),
    tests("StoreTests", ["Store", "LocalServices", "TestSupport"]),
    tests("ProvidersTests", ["Providers", "LocalServices", "Simulator"]),
    tests("WorkerTests", ["Worker", "HTTP2", "Model", "Reactor", "Redis", "Store", "TestSupport"]),
    tests(
      "SimulatorTests",
      [
        "Simulator", "LocalServices", "HTTP2", "Model", "Reactor", "COpenSSL", "pushpool-simulator",
      ]),
    tests("LocalServicesTests", ["LocalServices", "Model", "Reactor"]),
    tests("BenchTests", ["Bench", "Model", arguments]),
    tests(
      "ChaosTests",
      ["Chaos", "LocalServices", "Model", "Redis", "Store", "pushpool", "pushpool-simulator"]),
    tests(
      "CommandLineTests",
      [
        "CommandLineInterface", "Configuration", "LocalServices", "Model", "Reactor", "Redis",
        "Store", "TestSupport", "pushpool", logging,
      ]),
    tests(
      "EndToEndTests",
      [
        "Worker", "LocalServices", "Simulator", "Configuration", "Model", "Reactor", "Redis",
        "Store", "TestSupport", "pushpool", logging,
      ], resources: [.copy("BadJobs")]),
    tests(
      "FuzzTests",
      [
        "Configuration", "HTTP2", "LocalServices", "Model", "Providers", "Reactor", "Redis",
        "TestSupport",
      ]),
  ]
)
