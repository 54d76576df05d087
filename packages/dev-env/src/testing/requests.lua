-- Makes wrk send the requests of a file in turn. Argument: a file with whole requests without bodies.

local requests, at = {}, 0

function init(args)
  for request in io.open(args[1], 'rb'):read('*a'):gmatch('.-\r\n\r\n') do requests[#requests + 1] = request end
end

function request()
  at = at % #requests + 1
  return requests[at]
end
