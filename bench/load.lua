-- Sends each request of a file once: a connection takes the next one after its answer. Ends after the last answer.
-- Arguments: requests (for each, a line with the byte length, then the bytes), connections, expected status, file for the
-- result, file for the bodies of the answers (optional). wrk calls `request` once before it starts, to read its form.
local ffi = require("ffi")
ffi.cdef [[
  typedef struct { long seconds; long nanoseconds; } bench_time;
  int clock_gettime(int clock, bench_time *time);
  int kill(int pid, int signal);
  int getpid(void);
]]
local time = ffi.new("bench_time")
local MONOTONIC, SIGINT = 1, 2

local function microseconds()
  ffi.C.clock_gettime(MONOTONIC, time)
  return tonumber(time.seconds) * 1e6 + tonumber(time.nanoseconds) / 1e3
end

local requests, calls, without, connections, expected, bodies = {}, 0, 0, 0, 0, nil
local bodies_file
local threads = {}
elapsed, unexpected, first = nil, 0, ""

function setup(thread)
  threads[#threads + 1] = thread
end

function init(arguments)
  connections, expected, result_file, bodies_file = tonumber(arguments[2]), tonumber(arguments[3]), arguments[4], arguments[5]
  if bodies_file then bodies = {} end
  local file = assert(io.open(arguments[1], "rb"))
  for length in function() return file:read("*l") end do
    requests[#requests + 1] = file:read(tonumber(length))
  end
  file:close()
end

local started_at

local function finish()
  elapsed = microseconds() - started_at
  if bodies then
    local file = assert(io.open(bodies_file, "wb"))
    file:write(table.concat(bodies, "\n"))
    file:close()
  end
  wrk.thread:stop()
  -- Interrupts wrk, which otherwise sleeps until the end of its duration.
  ffi.C.kill(ffi.C.getpid(), SIGINT)
end

function request()
  local index = calls
  calls = calls + 1
  if index == 0 then return requests[1] end
  if index == 1 then started_at = microseconds() end
  local next_request = requests[index]
  if next_request then return next_request end
  -- Returns no bytes, because this connection is done.
  without = without + 1
  if without == connections then finish() end
  return ""
end

function response(status, _, body)
  if status ~= expected then
    unexpected = unexpected + 1
    if unexpected == 1 then first = status .. " " .. body:gsub("%s+", " "):sub(1, 300) end
  end
  if bodies then bodies[#bodies + 1] = body end
end

function done(summary, latency)
  local thread = threads[1]
  local file = assert(io.open(thread:get("result_file"), "wb"))
  local broken = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
  file:write("elapsed ", thread:get("elapsed") or "", "\n", "answered ", summary.requests, "\n")
  file:write("unexpected ", thread:get("unexpected"), "\n", "broken ", broken, "\n", "first ", thread:get("first"), "\n")
  for index = 1, #latency do
    local value, count = latency(index)
    file:write("latency ", value, " ", count, "\n")
  end
  file:close()
end
