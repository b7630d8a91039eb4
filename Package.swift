// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// The folders under `Sources/` and `Tests/`: deploy/checks/imports says which of them may use which.
enum Layer: String {
    case values = "Values"
    case useCases = "UseCases"
    case adapters = "Adapters"
    case simulators = "Simulators"
    case programs = "Programs"
    case client = "Client"

    /// - Parameter hasGuide: Whether its README.md stands beside it.
    func library(
        _ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = [],
        hasGuide: Bool = false, excluding excluded: [String] = []
    ) -> Target {
        .target(
            name: name, dependencies: dependencies, path: sources(name),
            exclude: excluded + (hasGuide ? ["README.md"] : []),
            resources: resources, swiftSettings: settings)
    }

    func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
        .executableTarget(
            name: name, dependencies: dependencies, path: sources(name), swiftSettings: settings)
    }

    func systemLibrary(_ name: String, pkgConfig: String? = nil, package: String) -> Target {
        .systemLibrary(name: name, path: sources(name), pkgConfig: pkgConfig, providers: [.apt([package])])
    }

    func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
        .testTarget(
            name: name, dependencies: dependencies, path: "Tests/\(rawValue)/\(name)", resources: resources,
            swiftSettings: settings)
    }

    func sources(_ name: String) -> String { "Sources/\(rawValue)/\(name)" }
}

/// A module that tests of several floors use.
func testSupport(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "Tests/\(name)", swiftSettings: settings)
}

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let jwtKit = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let coreMetrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioHPACK = Target.Dependency.product(name: "NIOHPACK", package: "swift-nio-http2")
let nioHTTP2 = Target.Dependency.product(name: "NIOHTTP2", package: "swift-nio-http2")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
let swiftASN1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let tracing = Target.Dependency.product(name: "Tracing", package: "swift-distributed-tracing")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let serviceLifecycle = Target.Dependency.product(
    name: "ServiceLifecycle", package: "swift-service-lifecycle")

let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")

let package = Package(
    name: "doorstep",
    // For DoorstepClient. What runs on servers is built on Linux.
    platforms: [.iOS(.v16)],
    products: [
        .executable(name: "doorstep", targets: ["Doorstep"]),
        .library(name: "APNsPayload", targets: ["APNsPayload"]),
        .library(name: "DoorstepClient", targets: ["DoorstepClient"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1.git", exact: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates.git", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto.git", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", exact: "1.7.3"),
        .package(url: "https://github.com/apple/swift-http-types.git", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log.git", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics.git", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio.git", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", exact: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", exact: "2.37.6"),
        .package(url: "https://github.com/swift-server/async-http-client.git", exact: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", exact: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit.git", exact: "5.7.1"),
    ],
    targets: [
        Layer.values.library("Tenancy", ["Encodings"]),
        Layer.values.library("HTML"),
        Layer.values.library("IPAddresses"),
        Layer.values.library("Encodings"),
        Layer.values.library("JSON", ["Encodings"]),
        Layer.values.library("LogLines", ["Encodings", "JSON"]),
        Layer.values.library("Geodesy"),
        Layer.values.library("HTTPSyntax", ["JSON"]),
        Layer.values.library("Cards", ["Encodings", "Geodesy", "JSON", crypto]),
        Layer.values.library("AppClipCodes"),
        Layer.values.library("Invocation", ["AppClipCodes", "Encodings", "JSON", "Tenancy"]),
        Layer.values.library("APNsPayload", ["Encodings", "JSON"]),
        Layer.values.library("AppSiteAssociation", ["Invocation", "JSON", "Tenancy"]),
        Layer.values.library(
            "AppAttest",
            ["AppSiteAssociation", "Encodings", "JSON", "Tenancy", crypto, swiftASN1, x509]),
        Layer.values.library("QRCode"),
        Layer.values.library("RateLimiting"),
        Layer.values.library(
            "Receipts", ["AppAttest", "Encodings", "Invocation", "JSON", "Tenancy", crypto]),
        Layer.values.library(
            "Lookups",
            [
                "AppAttest", "AppSiteAssociation", "Cards", "Encodings", "Geodesy", "Invocation", "JSON",
                "RateLimiting",
                "Tenancy",
            ]),

        Layer.useCases.library(
            "Locations",
            ["AppAttest", "Encodings", "Geodesy", "Invocation", "JSON", "Receipts", "Lookups", "Tenancy"]),
        Layer.useCases.library(
            "Notifications",
            [
                "APNsPayload", "AppAttest", "Encodings", "HTTPSyntax", "IPAddresses", "Invocation", "JSON",
                "Receipts", "Lookups", "Tenancy",
            ]),
        Layer.useCases.library(
            "Attestation", ["AppAttest", "AppSiteAssociation", "Lookups", "Tenancy"]),
        Layer.useCases.library(
            "Administration",
            [
                "AppAttest", "AppSiteAssociation", "Cards", "Encodings", "Geodesy", "Invocation", "JSON",
                "RateLimiting", "Lookups",
                "Tenancy",
            ]),
        Layer.useCases.library(
            "AppStoreSync", ["Cards", "Encodings", "Geodesy", "Invocation", "JSON", "Tenancy"]),

        Layer.adapters.systemLibrary("CLibPQ", pkgConfig: "libpq", package: "libpq-dev"),
        Layer.adapters.systemLibrary("CZlib", pkgConfig: "zlib", package: "zlib1g-dev"),
        Layer.adapters.library("PostgreSQL", ["CLibPQ"]),
        Layer.adapters.library("EmbeddedPostgreSQL", []),
        .target(
            name: "CBuild", path: Layer.adapters.sources("CBuild"),
            cSettings: [
                .define("DOORSTEP_COMMIT", to: Context.environment["DOORSTEP_COMMIT"] ?? "unknown"),
                .define("DOORSTEP_COMMIT_DATE", to: Context.environment["DOORSTEP_COMMIT_DATE"] ?? "unknown"),
            ]),
        Layer.adapters.library("Platform", ["CBuild", "CZlib"]),
        Layer.adapters.library(
            "HTTPServer",
            [
                "HTTPSyntax", "IPAddresses", "Platform", httpTypes, logging, nioCore, nioHPACK, nioHTTP1,
                nioHTTP2, nioPosix, nioSSL, nioTLS,
            ]),
        Layer.adapters.systemLibrary("CResolv", package: "libc6-dev"),
        Layer.adapters.library(
            "OutboundHTTP",
            ["IPAddresses", "Platform", asyncHTTPClient, nioCore, nioHTTP1, nioPosix, nioSSL, tracing]),
        Layer.adapters.library(
            "TraceExport",
            [
                "HTTPSyntax", "JSON", "OutboundHTTP", asyncHTTPClient, logging, nioHTTP1, serviceLifecycle,
                tracing,
            ]),
        Layer.adapters.library("DNSClient", ["Administration", "CResolv", "Platform"]),
        Layer.adapters.library("DomainProof", ["Administration", "OutboundHTTP", asyncHTTPClient, nioHTTP1]),
        Layer.adapters.library(
            "ServerClient",
            [
                "Administration", "AppSiteAssociation", "Cards", "Encodings", "IPAddresses", "Invocation",
                "JSON", "Notifications", "OutboundHTTP",
                "Lookups", "Tenancy", asyncHTTPClient, nioCore, nioHTTP1,
            ]),
        Layer.adapters.library(
            "AppStoreConnect",
            ["Cards", "JSON", "OutboundHTTP", "AppStoreSync", "Tenancy", asyncHTTPClient, jwtKit, nioHTTP1]),
        Layer.adapters.library(
            "WebhookClient",
            [
                "Encodings", "HTTPSyntax", "Notifications", "OutboundHTTP", asyncHTTPClient, crypto, nioHTTP1,
            ]),
        Layer.adapters.library(
            "Persistence",
            [
                "APNsPayload", "Administration", "AppAttest", "AppSiteAssociation", "Attestation",
                "Cards", "Encodings", "Geodesy", "HTTPSyntax", "Invocation",
                "IPAddresses", "JSON", "Locations", "Notifications", "Platform", "PostgreSQL", "RateLimiting",
                "Receipts", "AppStoreSync",
                "Lookups", "Tenancy", crypto,
            ],
            resources: [.embedInCode("Migrations"), .embedInCode("roles.sql")]),
        Layer.adapters.library(
            "APNsClient",
            [
                "APNsPayload", "JSON", "Notifications", "Tenancy", coreMetrics, jwtKit, logging, metrics,
                nioCore, nioHPACK, nioHTTP2, nioPosix, nioSSL, nioTLS, serviceLifecycle, tracing,
            ]),
        Layer.simulators.library(
            "APNsSimulator",
            [
                "APNsPayload", "Encodings", "HTTPServer", "JSON", "Platform", crypto, httpTypes, nioCore,
                nioHPACK, nioHTTP2, nioPosix, nioSSL, nioTLS, swiftASN1, x509,
            ]),
        Layer.simulators.library(
            "AppStoreConnectSimulator",
            ["Cards", "Encodings", "HTTPServer", "JSON", crypto, httpTypes, nioCore, nioPosix],
            resources: [.embedInCode("specification.json")]),
        Layer.simulators.library(
            "AppAttestSimulator", ["AppAttest", "AppSiteAssociation", crypto, swiftASN1, x509]),
        .target(
            name: "COpenAPI", path: Layer.adapters.sources("COpenAPI"), exclude: ["openapi.json"]),
        Layer.adapters.library(
            "HTTPAPI",
            [
                "APNsPayload", "Administration", "AppAttest", "AppSiteAssociation", "Attestation", "COpenAPI",
                "CZlib", "Cards", "Encodings", "Geodesy", "HTML", "HTTPServer", "HTTPSyntax",
                "IPAddresses", "Invocation", "JSON", "Locations", "Notifications", "Platform", "RateLimiting",
                "Receipts",
                "AppStoreSync", "Lookups", "Tenancy", crypto, httpTypes, logging, metrics, nioCore,
                serviceLifecycle, tracing,
            ],
            excluding: ["OpenAPI"]),
        Layer.adapters.library(
            "LandingPages",
            [
                "Cards", "Encodings", "HTML", "HTTPSyntax", "Invocation", "Platform", "QRCode", "Lookups",
                "Tenancy",
                crypto, httpTypes,
            ]),
        Layer.adapters.library(
            "Console",
            [
                "Administration", "AppSiteAssociation", "Cards", "Encodings", "Geodesy", "HTML", "HTTPServer",
                "HTTPSyntax", "IPAddresses", "Invocation", "JSON", "Locations", "Notifications",
                "Persistence",
                "Platform", "QRCode", "RateLimiting", "Receipts", "AppStoreSync", "Lookups", "Tenancy",
                crypto, httpTypes,
                logging, serviceLifecycle,
            ],
            resources: [.embedInCode("Assets")]),
        Layer.programs.program(
            "Doorstep",
            [
                "APNsClient", "APNsPayload", "APNsSimulator", "Administration", "AppAttest",
                "AppAttestSimulator",
                "AppClipCodes", "AppSiteAssociation", "AppStoreConnect", "AppStoreConnectSimulator",
                "Attestation", "Cards",
                "Console", "DNSClient", "DomainProof", "EmbeddedPostgreSQL", "Encodings", "Geodesy", "HTML",
                "HTTPAPI", "HTTPServer",
                "IPAddresses", "Invocation", "JSON", "LandingPages", "Locations", "Notifications",
                "OutboundHTTP",
                "Persistence", "Platform", "PostgreSQL", "QRCode", "RateLimiting", "Receipts", "AppStoreSync",
                "LogLines", "Lookups", "ServerClient",
                "Tenancy", "TraceExport", "WebhookClient",
                argumentParser,
                crypto, logging, metrics, serviceLifecycle, tracing, unixSignals,
            ]),
        .target(name: "CAllocations", path: Layer.programs.sources("CAllocations")),
        Layer.programs.program(
            "Benchmarks",
            [
                "APNsClient", "APNsPayload", "APNsSimulator", "AppAttest", "AppAttestSimulator",
                "AppSiteAssociation", "CAllocations", "Encodings", "Geodesy", "Invocation", "JSON",
                "LandingPages", "Locations", "Notifications", "Persistence", "Platform", "PostgreSQL",
                "QRCode", "Lookups", "Tenancy", argumentParser, crypto, httpTypes, logging,
            ]),

        Layer.client.library("DoorstepClient", hasGuide: true),

        testSupport("PropertyTesting", []),
        .target(name: "CSteps", path: "Tests/CSteps"),
        testSupport("ProcessSupport", []),
        testSupport(
            "FuzzTargets",
            [
                "APNsPayload", "Administration", "AppAttest", "AppSiteAssociation", "Cards", "DNSClient",
                "Encodings", "HTTPSyntax", "IPAddresses", "Invocation", "JSON", "Notifications", "PostgreSQL",
                "Receipts", "Lookups", "Tenancy",
            ]),
        .testTarget(
            name: "FuzzTargetsTests", dependencies: ["Administration", "AppAttest", "FuzzTargets"],
            path: "Tests/FuzzTargetsTests", resources: [.copy("Seeds")], swiftSettings: settings),
        testSupport(
            "TestSupport",
            [
                "Administration", "AppSiteAssociation", "EmbeddedPostgreSQL", "Invocation", "Persistence",
                "PostgreSQL", "ProcessSupport", "Tenancy",
            ]),
        Layer.values.tests("TenancyTests", ["Tenancy"]),
        Layer.values.tests("HTMLTests", ["HTML", "PropertyTesting"]),
        Layer.values.tests("HTTPSyntaxTests", ["HTTPSyntax", "JSON"]),
        Layer.values.tests("IPAddressesTests", ["IPAddresses"]),
        Layer.values.tests("QRCodeTests", ["PropertyTesting", "QRCode"]),
        Layer.values.tests("RateLimitingTests", ["PropertyTesting", "RateLimiting"]),
        Layer.values.tests("JSONTests", ["JSON", "PropertyTesting"]),
        Layer.values.tests("LogLinesTests", ["LogLines"]),
        Layer.values.tests("EncodingsTests", ["Encodings"]),
        Layer.values.tests(
            "CardsTests", ["Cards", "Encodings", "Geodesy", "JSON", "PropertyTesting"]),
        Layer.values.tests("GeodesyTests", ["Geodesy", "PropertyTesting"], resources: [.copy("Vectors")]),
        Layer.values.tests("AppClipCodesTests", ["AppClipCodes"], resources: [.copy("Vectors")]),
        Layer.values.tests(
            "InvocationTests", ["AppClipCodes", "Invocation", "PropertyTesting", "Tenancy"],
            resources: [.copy("Vectors")]),
        Layer.values.tests(
            "APNsPayloadTests", ["APNsPayload", "JSON", "PropertyTesting"], resources: [.copy("Vectors")]),
        Layer.values.tests(
            "AppAttestTests",
            [
                "AppAttest", "AppAttestSimulator", "AppSiteAssociation", "Encodings", "JSON",
                "PropertyTesting", "Tenancy", crypto,
            ],
            resources: [.copy("Vectors")]),
        Layer.values.tests(
            "AppSiteAssociationTests", ["AppSiteAssociation", "Invocation", "JSON", "Tenancy"]),
        Layer.values.tests(
            "LookupsTests",
            [
                "AppAttest", "Cards", "Encodings", "Geodesy", "Invocation", "JSON", "PropertyTesting",
                "RateLimiting",
                "Lookups", "LookupsSupport",
                "Tenancy",
            ],
            resources: [.copy("Vectors")]),
        testSupport("LookupsSupport", ["Invocation", "RateLimiting", "Lookups", "Tenancy"]),
        Layer.values.tests(
            "ReceiptsTests",
            ["Encodings", "Invocation", "JSON", "ReceiptSupport", "Receipts", "LookupsSupport", "Tenancy"]),
        testSupport("ReceiptSupport", ["JSON", crypto]),
        Layer.useCases.tests(
            "LocationsTests",
            [
                "AppAttest", "Geodesy", "Invocation", "Locations", "Receipts", "Lookups", "LookupsSupport",
                "Tenancy",
            ]),
        Layer.useCases.tests(
            "NotificationsTests",
            [
                "APNsPayload", "AppAttest", "IPAddresses", "Invocation", "JSON", "Notifications",
                "PropertyTesting", "Receipts", "Lookups", "LookupsSupport", "Tenancy",
            ]),
        Layer.useCases.tests(
            "AdministrationTests",
            [
                "Administration", "AppAttest", "AppSiteAssociation", "Cards", "Geodesy", "Invocation",
                "JSON", "PropertyTesting", "RateLimiting", "Lookups", "LookupsSupport", "Tenancy",
            ]),
        Layer.useCases.tests(
            "AppStoreSyncTests",
            ["Cards", "Geodesy", "Invocation", "JSON", "PropertyTesting", "AppStoreSync"]),
        testSupport("StoreSupport", ["AppStoreConnectSimulator", "Encodings", crypto]),
        Layer.simulators.tests(
            "AppStoreConnectSimulatorTests",
            [
                "AppStoreConnectSimulator", "Encodings", "JSON", "StoreSupport", asyncHTTPClient, crypto,
                nioCore,
                nioHTTP1,
            ]),
        testSupport("LocalServers", ["ProcessSupport", nioCore, nioHTTP1, nioPosix, nioSSL]),
        Layer.adapters.tests(
            "OutboundHTTPTests",
            [
                "IPAddresses", "LocalServers", "OutboundHTTP", "Platform", asyncHTTPClient, nioCore, nioHTTP1,
                nioPosix, nioSSL,
            ]),
        Layer.adapters.tests(
            "TraceExportTests",
            [
                "HTTPSyntax", "IPAddresses", "JSON", "LocalServers", "OutboundHTTP", "TraceExport", logging,
                tracing,
            ]),
        Layer.adapters.tests("DNSClientTests", ["Administration", "DNSClient", "LocalServers"]),
        Layer.adapters.tests(
            "DomainProofTests",
            ["Administration", "DomainProof", "IPAddresses", "LocalServers", "OutboundHTTP"]),
        Layer.adapters.tests(
            "WebhookClientTests",
            [
                "Encodings", "HTTPSyntax", "IPAddresses", "LocalServers", "Notifications", "OutboundHTTP",
                "WebhookClient",
            ]),
        Layer.adapters.tests(
            "AppStoreConnectTests",
            [
                "AppStoreConnect", "AppStoreConnectSimulator", "Cards", "Geodesy", "IPAddresses",
                "Invocation",
                "JSON", "LocalServers", "OutboundHTTP", "AppStoreSync", "StoreSupport", "TraceExport", crypto,
                tracing,
            ]),
        Layer.adapters.tests(
            "ServerClientTests", ["Administration", "JSON", "LocalServers", "ServerClient", "Tenancy"]),
        Layer.adapters.tests("PlatformTests", ["Platform"]),
        Layer.adapters.tests(
            "HTTPServerTests",
            [
                "HTTPServer", "IPAddresses", crypto, httpTypes, logging, nioCore, nioEmbedded, nioHPACK,
                nioHTTP1, nioHTTP2,
                nioPosix, nioSSL, swiftASN1, x509,
            ]),
        testSupport("HTTPTestClient", ["HTTPServer", httpTypes, nioCore, nioHTTP1, nioPosix]),
        Layer.adapters.tests(
            "EmbeddedPostgreSQLTests", ["EmbeddedPostgreSQL", "PostgreSQL", "ProcessSupport", "TestSupport"]),
        Layer.adapters.tests(
            "PostgreSQLTests", ["EmbeddedPostgreSQL", "PostgreSQL", "PropertyTesting", "TestSupport"]),
        Layer.adapters.tests(
            "PersistenceTests",
            [
                "APNsPayload", "Administration", "AppAttest", "AppAttestSimulator", "AppSiteAssociation",
                "Attestation", "Cards", "EmbeddedPostgreSQL", "Encodings", "Geodesy", "HTTPSyntax",
                "IPAddresses", "Invocation", "JSON", "Locations", "Notifications", "Persistence",
                "PostgreSQL",
                "ProcessSupport", "PropertyTesting", "RateLimiting", "Receipts", "AppStoreSync", "Lookups",
                "LookupsSupport",
                "StoreSupport",
                "Tenancy",
                "TestSupport", crypto,
            ]),
        Layer.adapters.tests(
            "ConsoleTests",
            [
                "Administration", "AppSiteAssociation", "Cards", "Console", "Encodings", "Geodesy", "HTML",
                "HTTPAPI", "HTTPServer", "HTTPSyntax", "HTTPTestClient", "IPAddresses", "Invocation", "JSON",
                "LandingPages",
                "Locations",
                "Notifications", "Persistence", "PostgreSQL", "RateLimiting", "Receipts", "Lookups",
                "LookupsSupport", "StoreSupport", "Tenancy", "TestSupport", httpTypes, logging, nioCore,
            ]),
        Layer.client.tests(
            "DoorstepClientTests",
            [
                "AppAttest", "AppAttestSimulator", "AppSiteAssociation", "DoorstepClient", "JSON", "Receipts",
                "Tenancy", crypto,
            ]),
        Layer.simulators.tests(
            "APNsSimulatorTests",
            [
                "APNsClient", "APNsPayload", "APNsSimulator", "JSON", "Notifications", "Tenancy",
                asyncHTTPClient, crypto, logging, nioCore, nioHPACK, nioHTTP1, nioHTTP2, nioPosix, nioSSL,
            ]),
        Layer.adapters.tests(
            "APNsClientTests",
            [
                "APNsClient", "APNsPayload", "APNsSimulator", "JSON", "Notifications", "PropertyTesting",
                "Tenancy", crypto, logging, metrics, nioCore, nioHPACK, nioHTTP2, nioPosix, nioSSL,
            ]),
        Layer.adapters.tests(
            "HTTPAPITests",
            [
                "APNsClient", "APNsPayload", "Administration", "AppAttest", "AppAttestSimulator",
                "AppSiteAssociation", "Attestation", "CSteps", "CZlib", "Cards", "DNSClient", "Encodings",
                "FuzzTargets", "Geodesy", "HTML", "HTTPAPI", "HTTPServer", "HTTPSyntax", "HTTPTestClient",
                "IPAddresses", "Invocation", "JSON",
                "LandingPages",
                "Locations",
                "Notifications",
                "PostgreSQL",
                "PropertyTesting", "RateLimiting", "ReceiptSupport", "Receipts", "AppStoreSync", "Lookups",
                "LookupsSupport",
                "StoreSupport",
                "Tenancy", crypto, httpTypes, logging, metrics, nioCore, nioEmbedded, nioHPACK, nioHTTP1,
                nioPosix, serviceLifecycle,
                swiftASN1, x509,
            ]),
        Layer.adapters.tests(
            "LandingPagesTests",
            [
                "Cards", "Encodings", "HTML", "Invocation", "LandingPages", "PropertyTesting", "QRCode",
                "Lookups",
                "LookupsSupport", "Tenancy", crypto, httpTypes,
            ], resources: [.copy("Vectors")]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "APNsClient", "APNsPayload", "APNsSimulator", "Administration", "AppAttest",
                "AppAttestSimulator", "AppSiteAssociation", "AppStoreConnect", "AppStoreConnectSimulator",
                "Cards", "Doorstep", "DoorstepClient", "EmbeddedPostgreSQL", "Encodings", "HTTPAPI",
                "IPAddresses", "Invocation", "JSON", "LocalServers", "Notifications", "OutboundHTTP",
                "Persistence", "PostgreSQL", "ProcessSupport", "PropertyTesting", "QRCode", "AppStoreSync",
                "Lookups", "StoreSupport",
                "Tenancy", "TestSupport", asyncHTTPClient,
                crypto, logging, nioCore, nioHTTP1, nioPosix, nioSSL,
            ],
            path: "Tests/EndToEndTests", swiftSettings: settings),
    ]
)

// libFuzzer brings the main function, so that without `--sanitize fuzzer` there is none: deploy/checks/fuzz asks for it.
if Context.environment["DOORSTEP_FUZZER"] != nil {
    package.targets.append(
        .executableTarget(
            name: "Fuzzer", dependencies: ["FuzzTargets"], path: "Tests/Fuzzer",
            swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])]))
}

// The thread sanitizer knows the locks of pthreads, and not those of Synchronization on Linux. With this set, by
// deploy/checks/sanitizers, our targets have a Synchronization and checked continuations of our own; CThreadSanitizer says what
// else it is told, and what is kept from it.
if Context.environment["DOORSTEP_THREAD_SANITIZER"] != nil {
    for target in package.targets where target.type != .system {
        target.dependencies += ["AcquiringContinuations", "PthreadSynchronization"]
        target.swiftSettings =
            (target.swiftSettings ?? []) + [
                .unsafeFlags([
                    "-module-alias", "Synchronization=PthreadSynchronization",
                    "-Xfrontend", "-import-module", "-Xfrontend", "AcquiringContinuations",
                ])
            ]
    }
    package.targets += [
        testSupport("PthreadSynchronization", []),
        testSupport("AcquiringContinuations", ["CThreadSanitizer"]),
        .target(
            name: "CThreadSanitizer", path: "Tests/CThreadSanitizer",
            linkerSettings: [.unsafeFlags(["-Xlinker", "--wrap=__tsan_external_write"])]),
    ]
}
