// A stand-in as a child process: says where it listens in one line of JSON, then answers one chain of
// calls a line ([["user", "7"], ["sendMessage", {…}]]), and ends when its input does.
import { createInterface } from 'node:readline'

export async function serve(target, hello) {
  process.stdout.write(JSON.stringify(hello) + '\n')
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(JSON.stringify(await answer(target, JSON.parse(line))) + '\n')
  }
  process.exit(0)
}

async function answer(target, chain) {
  try {
    let value = target
    for (const [name, ...given] of chain) {
      const found = value[name]
      value = await (typeof found === 'function' ? found.apply(value, given) : found)
    }
    return { value: value === target ? null : (value ?? null) }
  } catch (error) {
    return { error: String(error?.stack ?? error) }
  }
}
