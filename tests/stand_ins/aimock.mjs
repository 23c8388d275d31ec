// Claude's Messages API as @copilotkit/aimock plays it. Its journal holds a translation of each request,
// so the bytes are kept here as they came.
import { Server } from 'node:http'
import { LLMock } from '@copilotkit/aimock'
import { serve } from './stand_in.mjs'

const bodies = []
const emit = Server.prototype.emit
Server.prototype.emit = function (name, request, ...rest) {
  if (name === 'request' && request.url.startsWith('/v1/messages')) {
    record(request)
    overload(rest[0])
  }
  return emit.call(this, name, request, ...rest)
}

function record(request) {
  const chunks = []
  const pass = request.emit
  request.emit = function (name, ...given) {
    if (name === 'data') chunks.push(given[0])
    if (name === 'end') bodies.push(Buffer.concat(chunks).toString('utf8'))
    return pass.call(this, name, ...given)
  }
}

// A stream whose message is named so ends in Anthropic's error event where aimock would break it off.
function overload(response) {
  const { write, destroy } = response
  response.write = function (chunk, ...given) {
    if (String(chunk).includes('msg_overloaded')) {
      response.destroy = function () {
        response.destroy = destroy
        const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
        return response.end(`event: error\ndata: ${JSON.stringify(error)}\n\n`)
      }
    }
    return write.call(this, chunk, ...given)
  }
}

const mock = new LLMock({ port: 0, strict: true, logLevel: 'silent' })
await mock.start()
mock.bodies = () => bodies
mock.forget = () => {
  bodies.length = 0
  mock.reset()
}
await serve(mock, { url: mock.url })
