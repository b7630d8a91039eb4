import Formats
import Geodesy
import HTTPTypes
import Invocation
import Lookups

extension APIResponses {
    /// `POST /v1/nearby`: a clip's locations around the person. The person's coordinate is not stored.
    static func nearby(
        _ request: NearbyRequest, _ launch: TenantTable.Launch?, in table: TenantTable
    ) throws(Problem) -> APIResponse {
        do throws(LookupRefusal) {
            let search = try table.nearby(
                launch, from: request.coordinate, within: request.reach, limit: request.limit)
            var response = APIResponse(uncached: search.response)
            response.lookups = search.lookups
            response.isCompressible = true
            return response
        } catch {
            throw Problem(.notFound, error)
        }
    }
}

/// A request for nearby locations.
struct NearbyRequest {
    let url: InvocationURL
    let coordinate: Coordinate
    let reach: Distance
    let limit: Int

    init(_ body: JSONObject) throws(Problem) {
        let url: String
        do throws(JSONFieldError) {
            var body = JSONObjectReader(body)
            url = try body.requiredString("url")
            var reader = try body.requiredObject("coordinate")
            let (coordinate, accuracy) = try reader.readCoordinate()
            // A negative accuracy means an invalid coordinate (Apple, `CLLocation.horizontalAccuracy`).
            guard accuracy?.meters ?? 0 >= 0 else {
                throw JSONFieldError.invalid(
                    path: reader.path(of: "horizontalAccuracy"), reason: "must not be negative")
            }
            self.coordinate = coordinate
            reach =
                try body.optionalDouble("within").map(Distance.init(meters:))
                ?? NearbyLocation.defaultDistance
            guard reach.meters > 0, reach <= NearbyLocation.maximumDistance else {
                throw JSONFieldError.invalid(
                    path: "within",
                    reason: "must be more than 0 and at most \(Int(NearbyLocation.maximumDistance.meters))")
            }
            limit = try body.optionalInteger("limit") ?? NearbyLocation.defaultLimit
            let limits = NearbyLocation.limits
            guard limits.contains(limit) else {
                throw JSONFieldError.invalid(
                    path: "limit", reason: "must be from \(limits.lowerBound) to \(limits.upperBound)")
            }
            try body.finish()
        } catch {
            throw Problem(error)
        }
        self.url = try Problem.url(url)
    }
}
