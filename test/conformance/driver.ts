// Plays the scenarios of the conformance suite through the gateway's own code, or for comparison through the SDK's own client. One process for all of them: each has a gateway
// of its own, and nobody waits dozens of times for the sources to be read. Orders come over a socket, see client.mjs.
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { createDefinition, type ConformanceScenario } from './definition.ts';
import { createOpenNetwork } from './openNetwork.ts';
import { openGateway } from './gateway.ts';
import { createConformanceUser } from './user.ts';
import { useServerWithSdk } from './sdkUser.ts';

/** The suite starts all at once; more at a time than this would only wait for each other. */
const MAX_CONCURRENT_SCENARIOS = 4;

const [, , socketPath] = process.argv;
if (socketPath === undefined) throw new Error('driver.ts SOCKET');

const network = createOpenNetwork();
const waiters: (() => void)[] = [];
let runningCount = 0;

/** How a scenario ended: null, or why the gateway went no further. And what it said meanwhile. */
interface ScenarioResult {
  readonly refused: string | null;
  readonly said: readonly string[];
}

type RunScenario = (scenario: ConformanceScenario) => Promise<ScenarioResult>;

async function runWithGateway(scenario: ConformanceScenario): Promise<ScenarioResult> {
  const said: string[] = [];
  const log = (event: string, fields: object = {}) =>
    void said.push(`${event} ${inspect(fields, { breakLength: 200 })}`);
  const directory = await mkdtemp(join(tmpdir(), 'behalf-conformance-'));
  try {
    const gateway = await openGateway({
      directory,
      definition: await createDefinition(scenario, directory),
      network,
      log,
    });
    try {
      await createConformanceUser(gateway).useAllFeatures(scenario.context);
      return { refused: null, said };
    } finally {
      await gateway.close();
    }
  } catch (error) {
    log('stopped', { error });
    return { refused: String(error), said };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function runWithSdk(scenario: ConformanceScenario): Promise<ScenarioResult> {
  try {
    await useServerWithSdk(scenario);
    return { refused: null, said: [] };
  } catch (error) {
    return { refused: String(error), said: [inspect(error)] };
  }
}

async function withPermit<T>(work: () => Promise<T>): Promise<T> {
  if (runningCount >= MAX_CONCURRENT_SCENARIOS) await new Promise<void>((resolve) => waiters.push(resolve));
  else runningCount += 1;
  try {
    return await work();
  } finally {
    const nextWaiter = waiters.shift();
    if (nextWaiter) nextWaiter();
    else runningCount -= 1;
  }
}

const server = createServer((req, res) => {
  void (async () => {
    const scenario = JSON.parse(await text(req)) as ConformanceScenario;
    const runScenario: RunScenario = req.url === '/sdk' ? runWithSdk : runWithGateway;
    res.end(JSON.stringify(await withPermit(() => runScenario(scenario))));
  })().catch((error: unknown) => res.destroy(error instanceof Error ? error : new Error(String(error))));
});
server.listen(socketPath, () => process.stdout.write('ready\n'));
// Whoever started it is gone.
process.stdin.once('end', () => process.exit()).resume();
