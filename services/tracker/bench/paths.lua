-- What wrk sends: the requests of a list in turn.
-- Arguments: a file with one path a line, the value of the header Cookie.

local requests, next = {}, 0

function init(args)
  local headers = { Cookie = args[2] }
  for path in io.lines(args[1]) do requests[#requests + 1] = wrk.format('GET', path, headers) end
end

function request()
  next = next % #requests + 1
  return requests[next]
end
