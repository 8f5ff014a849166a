// What LangChain's client for JavaScript makes of a served graph: reads one request from its input, prints one result.
import { RemoteRunnable } from "@langchain/core/runnables/remote";
import { concat } from "@langchain/core/utils/stream";
import { text } from "node:stream/consumers";

const { url, headers, method, input, stopAfter } = JSON.parse(await text(process.stdin));
const remote = new RemoteRunnable({ url, options: { headers, timeout: 60000 } });

async function collected(stream) {
  const found = [];
  for await (const each of stream) {
    found.push(each);
    if (stopAfter && each.message) break;
  }
  return found;
}

const methods = {
  invoke: () => remote.invoke(input),
  batch: () => remote.batch(input),
  streamed: async () => (await collected(await remote.stream(input))).reduce((whole, chunk) => concat(whole, chunk)),
  events: () => collected(remote.streamEvents(input, { version: "v2" })),
  log: async () => (await collected(remote.streamLog(input))).reduce((whole, patch) => whole.concat(patch)).state,
};

try {
  console.log(JSON.stringify({ result: await methods[method]() }));
} catch (error) {
  console.log(JSON.stringify({ error: error.message }));
}
