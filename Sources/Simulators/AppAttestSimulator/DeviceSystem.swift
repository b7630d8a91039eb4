/// A generation of iOS, distinguished by the output of its App Attest.
public enum DeviceSystem: Sendable, CaseIterable {
    case iOS14
    /// With a hash of the code next to the signed data, for apps that request it.
    case iOS26
    /// With extensions in the authenticator data.
    case iOS27

    /// The flags that devices set in all cases. [observed]
    var flags: UInt8 {
        switch self {
        case .iOS14, .iOS26: 0x40
        case .iOS27: 0xC0
        }
    }
}

/// A fault of a software authenticator in an attestation.
public enum AttestationFault: Sendable, CaseIterable {
    case notCBOR, trailingByte, duplicateKey, otherFormat, missingReceipt
    case oneCertificate, threeCertificates, swappedCertificates, notYetValid, expired
    case intermediateIsNoAuthority, leafOfOtherAuthority, otherRoot, unknownCriticalExtension
    case leafOnP384, brokenCertificate
    case missingNonce, longNonce, otherNonce
    case otherKey, otherApp, counted, unknownEnvironment, shortCredential
    case otherCredential, otherPublicKey
    case unknownCategory, brokenCategory, bothSpellings
}

/// A fault of a software authenticator in an assertion.
public enum AssertionFault: Sendable, CaseIterable {
    case notCBOR, trailingByte, duplicateKey, missingSignature
    case brokenSignature, otherKey, hashedOnce, otherApp, repeatedCounter, unknownCategory, shortData
}
