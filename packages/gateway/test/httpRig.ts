import { systemClock, systemRandom, type Clock } from '@behalf/kernel';
import {
  createTestNetwork,
  scriptedHttpServer,
  type ScriptedHttpServer,
  type ScriptedOptions,
  type TestNetwork,
} from '@behalf/testkit';
import { openHttpUpstream } from '../src/upstream/http/negotiate.ts';
import {
  type ProtocolVersionCache,
  createProtocolVersionCache,
} from '../src/upstream/protocolVersionCache.ts';
import type {
  JsonObject,
  Upstream,
  UpstreamParts,
  UpstreamRequestOptions,
} from '../src/upstream/upstream.ts';
import type { OpenOptions, RemoteTarget } from '../src/upstream/target.ts';
import { UpstreamError } from '../src/upstream/upstreamError.ts';

type NetworkOptions = Parameters<typeof createTestNetwork>[1];

export interface HttpRig {
  readonly server: ScriptedHttpServer;
  readonly parts: UpstreamParts;
  readonly eraVerdicts: ProtocolVersionCache;
  readonly target: RemoteTarget;
  readonly logged: (readonly [event: string, fields: JsonObject])[];
  readonly open: (options?: Partial<OpenOptions>, target?: Partial<RemoteTarget>) => Promise<Upstream>;
}

const runningRigs: { close(): Promise<void> }[] = [];

/** Ends what `createHttpRig` opened. */
export async function stopHttpRigs(): Promise<void> {
  for (const rig of runningRigs.splice(0).reverse()) await rig.close();
}

/** A scripted server and everything that `openHttpUpstream` needs to reach it over the real door out. */
export async function createHttpRig(
  script: ScriptedOptions,
  { clock = systemClock, network: limits }: { clock?: Clock; network?: NetworkOptions } = {},
): Promise<HttpRig> {
  const server = await scriptedHttpServer(script);
  runningRigs.push(server);
  const network = createTestNetwork([server.port], limits);
  runningRigs.push(network);
  return { server, ...createHttpWiring(server.url, network, clock) };
}

export function createHttpWiring(url: string, network: TestNetwork, clock: Clock = systemClock) {
  const logged: (readonly [event: string, fields: JsonObject])[] = [];
  const parts: UpstreamParts = {
    clock,
    random: systemRandom,
    version: '0.0.0-test',
    network,
    log: (event, fields) => void logged.push([event, fields]),
    onStderr: () => undefined,
    kill: () => undefined,
  };
  const eraVerdicts = createProtocolVersionCache({ clock });
  const target: RemoteTarget = {
    type: 'streamable-http',
    url,
    headers: {},
    audience: 'yaml-server',
    proxy: undefined,
    sseReadTimeoutMs: 300_000,
  };
  return {
    parts,
    eraVerdicts,
    target,
    logged,
    async open(
      options: Partial<OpenOptions> = {},
      targetOverrides: Partial<RemoteTarget> = {},
    ): Promise<Upstream> {
      const upstream = await openHttpUpstream(
        { ...target, ...targetOverrides },
        {
          server: 'scripted',
          owner: undefined,
          era: 'auto',
          initTimeoutMs: 5_000,
          signal: new AbortController().signal,
          ...options,
        },
        parts,
        eraVerdicts,
      );
      runningRigs.push(upstream);
      return upstream;
    },
  };
}

/** What a request needs at least; a test changes what it is about. */
export function requestOptions(options: Partial<UpstreamRequestOptions> = {}): UpstreamRequestOptions {
  return { signal: new AbortController().signal, timeoutMs: 5_000, totalMs: 10_000, ...options };
}

export function callHttpTool(
  upstream: Upstream,
  name: string,
  args: JsonObject = {},
  options: Partial<UpstreamRequestOptions> = {},
) {
  return upstream.request('tools/call', { name, arguments: args }, requestOptions(options));
}

/** The UpstreamError that `work` ends in. Anything else fails the test. */
export async function expectUpstreamError(work: Promise<unknown>): Promise<UpstreamError> {
  const outcome = await work.then(
    (value) => new Error(`It did not fail: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (outcome instanceof UpstreamError) return outcome;
  throw outcome;
}
