// Slack's Web API as emulate plays it; the seed comes as the first argument.
import { createEmulator } from 'emulate'
import { serve } from './stand_in.mjs'

const slack = await createEmulator({ service: 'slack', port: 0, seed: JSON.parse(process.argv[2]) })
await serve(slack, { url: slack.url })
