import AppAttest
import Confirmations
import Formats
import Foundation
import Geodesy
import Invocation
import Lookups
import Receipts

extension APIResponses {
    /// `POST /v1/confirmations`: whether the person is at the location.
    /// - Parameter isReceipted: Whether the response may contain a receipt.
    func confirm(
        _ request: ConfirmationRequest, _ lookup: Lookup, attested attestation: RequestAttestation,
        isReceipted: Bool = true, in table: TenantTable, at now: Date
    ) -> [UInt8] {
        let confirmation = confirmer.confirm(
            request, lookup, attested: attestation, in: table, at: now)
        counters.count(confirmation.outcome)
        var receipt: String?
        if let receipts, isReceipted {
            receipt = receipts.sign(
                Receipt(
                    confirmation, attested: attestation, isSimulated: request.isSimulated, of: table.tenant,
                    at: now), at: now)
            counters.countReceipt()
        }
        return confirmation.response(receipt: receipt)
    }
}

extension ConfirmationRequest {
    init(_ body: JSONObject) throws(Problem) {
        let url: String
        let source: InvocationSource
        let access: LocationAccess
        let evidence: Evidence
        let isSimulated: Bool?
        do throws(JSONFieldError) {
            var body = JSONObjectReader(body)
            url = try body.requiredString("url")
            source = try body.optionalCase("source", of: InvocationSource.self) ?? .unknown
            access = try body.optionalCase("locationAccess", of: LocationAccess.self) ?? .unknown
            (evidence, isSimulated) = try body.readEvidence()
            try body.finish()
        } catch {
            throw Problem(error)
        }
        self.init(
            url: try Problem.url(url), source: source, access: access, evidence: evidence,
            isSimulated: isSimulated)
    }
}

extension JSONObjectReader {
    /// Reads a coordinate and whether the client reports it as simulated, or the device's own result, or neither.
    fileprivate mutating func readEvidence() throws(JSONFieldError) -> (
        ConfirmationRequest.Evidence, isSimulated: Bool?
    ) {
        switch (try optionalObject("coordinate"), try optionalObject("deviceResult")) {
        case (nil, nil): return (.none, nil)
        case (var reader?, nil):
            let isSimulated = try reader.optionalBool("simulated")
            let (coordinate, accuracy) = try reader.readCoordinate()
            return (.coordinate(coordinate, horizontalAccuracy: accuracy), isSimulated)
        case (nil, var result?): return (try result.readDeviceResult(), nil)
        case (_?, let result?):
            throw .invalid(path: result.path, reason: "cannot be combined with coordinate")
        }
    }

    /// Reads the coordinate that the device reports, and its accuracy.
    mutating func readCoordinate() throws(JSONFieldError) -> (Coordinate, Distance?) {
        let latitude = try requiredDouble("latitude")
        let longitude = try requiredDouble("longitude")
        let accuracy = try optionalDouble("horizontalAccuracy").map(Distance.init(meters:))
        try finish()
        do {
            return (try Coordinate(latitude: latitude, longitude: longitude), accuracy)
        } catch .longitudeOutOfRange {
            throw .invalid(path: path(of: "longitude"), reason: "must be from -180 to 180")
        } catch {
            throw .invalid(path: path(of: "latitude"), reason: "must be from -90 to 90")
        }
    }

    fileprivate mutating func readDeviceResult() throws(JSONFieldError) -> ConfirmationRequest.Evidence {
        let isInRegion = try optionalBool("inRegion")
        let code = try optionalInteger("errorCode")
        try finish()
        switch (isInRegion, code) {
        case (let isInRegion?, nil): return .device(.inRegion(isInRegion))
        case (nil, let code?): return .device(.error(code: code))
        default: throw .invalid(path: path, reason: "must have either inRegion or errorCode")
        }
    }
}
