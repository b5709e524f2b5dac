import { systemClock, systemRandom, type Clock } from '@behalf/kernel';
import {
  createTestNetwork,
  scriptedHttpServer,
  type ScriptedHttpServer,
  type ScriptedOptions,
  type TestNetwork,
} from '@behalf/testkit';
import {
  createProtocolVersionCache,
  type ProtocolVersionCache,
} from '../src/upstream/http/protocolVersionCache.ts';
import { openHttpUpstream } from '../src/upstream/http/openHttpUpstream.ts';
import type { UpstreamParts } from '../src/upstream/parts.ts';
import type { OpenOptions, RemoteTarget } from '../src/upstream/target.ts';
import type { JsonObject, UpstreamRequestOptions, Upstream } from '../src/upstream/upstream.ts';
import { UpstreamError } from '../src/upstream/upstreamError.ts';

type NetworkOptions = Parameters<typeof createTestNetwork>[1];

export interface HttpRig {
  readonly server: ScriptedHttpServer;
  readonly parts: UpstreamParts;
  readonly eras: ProtocolVersionCache;
  readonly target: RemoteTarget;
  readonly logs: (readonly [event: string, fields: JsonObject])[];
  readonly open: (options?: Partial<OpenOptions>, target?: Partial<RemoteTarget>) => Promise<Upstream>;
}

const running: { close(): Promise<void> }[] = [];

/** Ends what `createHttpRig` opened. */
export async function stopHttpRigs(): Promise<void> {
  for (const each of running.splice(0).reverse()) await each.close();
}

/** A scripted server and everything that `openHttpUpstream` needs to reach it over the real door out. */
export async function createHttpRig(
  script: ScriptedOptions,
  { clock = systemClock, network: limits }: { clock?: Clock; network?: NetworkOptions } = {},
): Promise<HttpRig> {
  const server = await scriptedHttpServer(script);
  running.push(server);
  const network = createTestNetwork([server.port], limits);
  running.push(network);
  return { server, ...wiringTo(server.url, network, clock) };
}

export function wiringTo(url: string, network: TestNetwork, clock: Clock = systemClock) {
  const logs: (readonly [event: string, fields: JsonObject])[] = [];
  const parts: UpstreamParts = {
    clock,
    random: systemRandom,
    version: '0.0.0-test',
    network,
    log: (event, fields) => void logs.push([event, fields]),
    onStderr: () => undefined,
    kill: () => undefined,
  };
  const eras = createProtocolVersionCache({ clock });
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
    eras,
    target,
    logs,
    async open(options: Partial<OpenOptions> = {}, changed: Partial<RemoteTarget> = {}): Promise<Upstream> {
      const upstream = await openHttpUpstream(
        { ...target, ...changed },
        {
          server: 'scripted',
          owner: undefined,
          era: 'auto',
          initTimeoutMs: 5_000,
          signal: new AbortController().signal,
          ...options,
        },
        parts,
        eras,
      );
      running.push(upstream);
      return upstream;
    },
  };
}

/** What a request needs at least; a test changes what it is about. */
export function patiently(options: Partial<UpstreamRequestOptions> = {}): UpstreamRequestOptions {
  return { signal: new AbortController().signal, timeoutMs: 5_000, totalMs: 10_000, ...options };
}

export function callTool(
  upstream: Upstream,
  name: string,
  args: JsonObject = {},
  options: Partial<UpstreamRequestOptions> = {},
) {
  return upstream.request('tools/call', { name, arguments: args }, patiently(options));
}

/** The UpstreamError that `work` ends in. Anything else fails the test. */
export async function failureOf(work: Promise<unknown>): Promise<UpstreamError> {
  const outcome = await work.then(
    (value) => new Error(`It did not fail: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (outcome instanceof UpstreamError) return outcome;
  throw outcome;
}
