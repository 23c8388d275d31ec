// JSON Schemas of the arguments of Slack's methods, made from the types that Slack publishes.
import { createGenerator } from 'ts-json-schema-generator'

const generator = createGenerator({
  path: 'node_modules/@slack/web-api/dist/types/request/index.d.ts',
  skipTypeCheck: true,
  additionalProperties: false,
  expose: 'export',
  topRef: true,
  jsDoc: 'none',
})
const made = {}
for (const name of process.argv.slice(2)) made[name] = generator.createSchema(name)
console.log(JSON.stringify(made))
