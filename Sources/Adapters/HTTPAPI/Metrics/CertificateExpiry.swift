public import Foundation
import NIOSSL

/// When certificates end.
public enum CertificateExpiry {
    /// The end of the validity of the first certificate in a PEM file.
    /// - Throws: If the file has no certificate.
    public static func date(ofFile path: String) throws -> Date? {
        try NIOSSLCertificate.fromPEMFile(path).first.map {
            Date(timeIntervalSince1970: Double($0.notValidAfter))
        }
    }
}
