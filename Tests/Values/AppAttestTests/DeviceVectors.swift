import Formats
import Foundation
import Invocation
import Testing

@testable import AppAttest

/// A file of `Vectors/`: what real devices made, unchanged, each with its source and licence.
func vectors(_ name: String) throws -> [JSONObject] {
    let url = try #require(
        Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "Vectors"))
    let elements = try #require(try JSONValue(parsing: Data(contentsOf: url)).arrayValue)
    return try elements.map { element in
        let object = try #require(element.objectValue)
        for key in ["source", "commit", "path", "license"] {
            #expect(object[key]?.stringValue?.isEmpty == false)
        }
        return object
    }
}

/// An attestation of a real device, and what it was made for.
struct DeviceAttestation: Sendable, CustomTestStringConvertible {
    let name: String
    var bytes: [UInt8]
    var keyID: [UInt8]
    var clientDataHash: [UInt8]
    var now: Date
    var policy: AttestationPolicy
    let environment: AttestationEnvironment
    let category: ValidationCategory?
    let bundleVersion: String?

    static let all: [DeviceAttestation] = {
        do { return try vectors("attestations").map(DeviceAttestation.init) } catch { return [] }
    }()

    private init(_ object: JSONObject) throws {
        name = try #require(object["name"]?.stringValue)
        bytes = try object.base64("attestation")
        keyID = try object.base64("keyId")
        clientDataHash = try object.base64("clientDataHash")
        now = try #require(object["verifyAt"]?.stringValue.flatMap { Date(rfc3339: $0) })
        environment = try #require(
            object["environment"]?.stringValue.flatMap(AttestationEnvironment.init(rawValue:)))
        policy = AttestationPolicy(appIDs: [try object.appID], environments: [environment])
        category = object["category"]?.numberValue?.int.flatMap { ValidationCategory(rawValue: UInt32($0)) }
        bundleVersion = object["bundleVersion"]?.stringValue
    }

    var testDescription: String { name }

    func verify(root: AttestationRoot? = nil) async throws -> AttestedKey {
        try await AttestationVerifier(root: root ?? .apple()).verify(
            bytes, keyID: keyID, clientDataHash: clientDataHash, policy: policy, at: now)
    }
}

/// An assertion of a real device, and what it was made for.
struct DeviceAssertion: Sendable, CustomTestStringConvertible {
    let name: String
    var bytes: [UInt8]
    var publicKey: [UInt8]
    var clientDataHash: [UInt8]
    var previousCounter: UInt32
    var policy: AttestationPolicy
    let counter: UInt32

    static let all: [DeviceAssertion] = {
        do { return try vectors("assertions").map(DeviceAssertion.init) } catch { return [] }
    }()

    private init(_ object: JSONObject) throws {
        name = try #require(object["name"]?.stringValue)
        bytes = try object.base64("assertion")
        // A key of P-256 in SubjectPublicKeyInfo ends in its point.
        publicKey = try object.base64("publicKeySPKI").suffix(65)
        clientDataHash = try object.base64("clientDataHash")
        previousCounter = UInt32(try #require(object["previousCounter"]?.numberValue?.int))
        counter = UInt32(try #require(object["counter"]?.numberValue?.int))
        policy = AttestationPolicy(appIDs: [try object.appID])
    }

    var testDescription: String { name }

    func verify() throws -> VerifiedAssertion {
        try #require(AssertionVerifier(publicKey: publicKey)).verify(
            bytes, clientDataHash: clientDataHash, after: previousCounter, policy: policy)
    }
}

extension JSONObject {
    fileprivate func base64(_ key: String) throws -> [UInt8] {
        Array(try #require(self[key]?.stringValue.flatMap { Data(base64Encoded: $0) }))
    }

    fileprivate var appID: AppID {
        get throws { try AppID(#require(self["rpId"]?.stringValue)) }
    }
}
