// Plays the scenarios of the conformance suite through the gateway's own code, or for comparison through the SDK's own client. One process for all of them: each has a gateway
// of its own, and nobody waits dozens of times for the sources to be read. Orders come over a socket, see client.mjs.
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { definitionOf, type Scenario } from './definition.ts';
import { openDoor } from './door.ts';
import { openGateway } from './gateway.ts';
import { createPerson } from './person.ts';
import { useWithSdk } from './sdkPerson.ts';

/** The suite starts all at once; more at a time than this would only wait for each other. */
const AT_ONCE = 4;

const [, , socket] = process.argv;
if (socket === undefined) throw new Error('driver.ts SOCKET');

const door = openDoor();
const waiting: (() => void)[] = [];
let running = 0;

/** How a scenario ended: null, or why the gateway went no further. And what it said meanwhile. */
interface Played {
  readonly refused: string | null;
  readonly said: readonly string[];
}

type Play = (scenario: Scenario) => Promise<Played>;

async function playGateway(scenario: Scenario): Promise<Played> {
  const said: string[] = [];
  const log = (event: string, fields: object = {}) =>
    void said.push(`${event} ${inspect(fields, { breakLength: 200 })}`);
  const dir = await mkdtemp(join(tmpdir(), 'behalf-conformance-'));
  try {
    const gateway = await openGateway({ dir, definition: await definitionOf(scenario, dir), door, log });
    try {
      await createPerson(gateway).useEverything(scenario.context);
      return { refused: null, said };
    } finally {
      await gateway.close();
    }
  } catch (error) {
    log('stopped', { error });
    return { refused: String(error), said };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function playSdk(scenario: Scenario): Promise<Played> {
  try {
    await useWithSdk(scenario);
    return { refused: null, said: [] };
  } catch (error) {
    return { refused: String(error), said: [inspect(error)] };
  }
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) await new Promise<void>((turn) => waiting.push(turn));
  else running += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

const server = createServer((req, res) => {
  void (async () => {
    const scenario = JSON.parse(await text(req)) as Scenario;
    const play: Play = req.url === '/sdk' ? playSdk : playGateway;
    res.end(JSON.stringify(await inTurn(() => play(scenario))));
  })().catch((error: unknown) => res.destroy(error instanceof Error ? error : new Error(String(error))));
});
server.listen(socket, () => process.stdout.write('ready\n'));
// Whoever started it is gone.
process.stdin.once('end', () => process.exit()).resume();
