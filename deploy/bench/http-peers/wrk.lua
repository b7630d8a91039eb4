-- Makes the requests of a file over and over, each as `path` or `path<tab>body` on a line of its own, with
-- the key in the environment's DOORSTEP_KEY, and prints a run's figures as one line of JSON.
-- usage: wrk … --script wrk.lua http://127.0.0.1:PORT -- FILE

local threads = 0

function setup(thread)
    thread:set("thread_number", threads)
    threads = threads + 1
end

function init(arguments)
    wrk.headers["Authorization"] = "Bearer " .. os.getenv("DOORSTEP_KEY")
    requests = {}
    for line in io.lines(arguments[1]) do
        local path, body = line:match("^([^\t]+)\t(.+)$")
        if body then
            wrk.headers["Content-Type"] = "application/json"
            table.insert(requests, wrk.format("POST", path, nil, body))
        else
            table.insert(requests, wrk.format("GET", line))
        end
    end
    -- Two threads are half of the file apart.
    position = thread_number * math.floor(#requests / 2) % #requests
end

function request()
    position = position % #requests + 1
    return requests[position]
end

-- Times are in microseconds.
function done(summary, latency)
    local errors = summary.errors
    io.write(string.format(
        '{"requests":%d,"seconds":%.6f,"p50":%.3f,"p99":%.3f,"refused":%d,"failed":%d}\n',
        summary.requests, summary.duration / 1e6,
        latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
        errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
