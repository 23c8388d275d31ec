// Discord's REST and gateway as discord-digital-twin plays them; its options come as the first argument.
import { DigitalDiscord } from 'discord-digital-twin'
import { serve } from './stand_in.mjs'

const twin = new DigitalDiscord(JSON.parse(process.argv[2]))
await twin.start()
await serve(twin, {
  rest: twin.restUrl, gateway: twin.gatewayUrl, token: twin.botToken, bot: twin.botUserId, guild: twin.guildId,
})
