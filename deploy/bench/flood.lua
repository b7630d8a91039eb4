-- Launches of a few hundred instances by one client, for wrk: each request a PUT of one that is there after the first round.

local requests = {}
local next_request = 0

function init(arguments)
   local headers = {
      ["Authorization"] = "Bearer " .. arguments[1],
      ["Content-Type"] = "application/json",
   }
   local token = string.rep("0123456789abcdef", 4)
   for number = 1, 500 do
      local body = string.format(
         '{"url":"https://example.com/restaurants/restaurant_a","environment":"sandbox","permission":"ephemeral",'
            .. '"token":"%s%08x"}', token:sub(9), number)
      local path = string.format("/v1/instances/00000000-0000-4000-8000-%012x", number)
      requests[number] = wrk.format("PUT", path, headers, body)
   end
end

function request()
   next_request = next_request % #requests + 1
   return requests[next_request]
end
