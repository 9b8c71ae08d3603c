-- wrk: POST the lines of a file as bodies, each connection the next one; tell the figures as JSON.
-- Arguments: the file, the API key.

local ready, at = {}, 0

function init(arguments)
  local headers = { ["Content-Type"] = "application/json", ["Authorization"] = "Bearer " .. arguments[2] }
  for body in io.lines(arguments[1]) do
    ready[#ready + 1] = wrk.format("POST", wrk.path, headers, body)
  end
end

function request()
  at = at % #ready + 1
  return ready[at]
end

function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    '{"requests": %d, "seconds": %f, "bytes": %d, "p50_ms": %f, "p99_ms": %f, "failed": %d}\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    e.connect + e.read + e.write + e.status + e.timeout))
end
