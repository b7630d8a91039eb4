-- Launches of a few hundred instances by one client, over and over; prints a run's figures as one line of JSON.
-- usage: wrk … --script flood.lua http://127.0.0.1:PORT -- KEY

local requests = {}
local position = 0

function init(arguments)
    local headers = { ["Authorization"] = "Bearer " .. arguments[1], ["Content-Type"] = "application/json" }
    for number = 1, 500 do
        local body = string.format(
            '{"url":"https://example.com/restaurants/restaurant_a","environment":"sandbox","permission":"ephemeral",'
                .. '"token":"%064x"}', number)
        local path = string.format("/v1/instances/00000000-0000-4000-8000-%012x", number)
        table.insert(requests, wrk.format("PUT", path, headers, body))
    end
end

function request()
    position = position % #requests + 1
    return requests[position]
end

function done(summary)
    local errors = summary.errors
    io.write(string.format(
        '{"requests":%d,"seconds":%.6f,"refused":%d,"failed":%d}\n', summary.requests, summary.duration / 1e6,
        errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
