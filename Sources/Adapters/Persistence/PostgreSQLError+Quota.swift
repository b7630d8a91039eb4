import Administration
import Formats
import PostgreSQL
import Tenancy

extension PostgreSQLError {
    /// The quota because of which a COMMIT was refused (`doorstep.settle_usage`); nil for other errors.
    var quotaExceeded: QuotaExceeded? {
        guard sqlState == "DQ001", let detail = serverError?.detail,
            let value = try? JSONValue(parsing: detail.utf8), var fields = try? JSONObjectReader(value),
            let forecast = try? QuotaForecast(&fields)
        else { return nil }
        return QuotaExceeded(forecast)
    }
}
