import { fileURLToPath } from 'node:url';
import { systemClock, systemRandom } from '@behalf/kernel';
import { createTestNetwork } from '@behalf/testkit';
import { createStdioLimits, type StdioLimits } from '../src/upstream/channel/stdioTransport.ts';
import { createOpenUpstream } from '../src/upstream/openUpstream.ts';
import type {
  JsonObject,
  Upstream,
  UpstreamParts,
  UpstreamRequestOptions,
} from '../src/upstream/upstream.ts';
import type { OpenOptions, RemoteTarget, StdioTarget, UpstreamTarget } from '../src/upstream/target.ts';

const script = fileURLToPath(new URL('../../testkit/fixtures/scriptedServer.mjs', import.meta.url));

/** The misbehaving server as a child process. */
export function scriptedTarget(env: Record<string, string> = {}): StdioTarget {
  return { type: 'stdio', command: process.execPath, args: [script], env, cwd: undefined, stderr: 'pipe' };
}

export function remoteChannelTarget(
  type: RemoteTarget['type'],
  url: string,
  overrides: Partial<RemoteTarget> = {},
): RemoteTarget {
  return {
    type,
    url,
    headers: {},
    audience: 'yaml-server',
    proxy: undefined,
    sseReadTimeoutMs: 300_000,
    ...overrides,
  };
}

export interface ChannelRig {
  readonly open: (target: UpstreamTarget, overrides?: Partial<OpenOptions>) => Promise<Upstream>;
  /** What the operator's log got. */
  readonly logged: { readonly event: string; readonly fields: JsonObject }[];
  readonly stderr: string[];
  readonly signals: string[];
  closeAll(): Promise<void>;
}

export function createChannelRig({
  ports = [],
  ...overrides
}: Partial<UpstreamParts> & { limits?: StdioLimits; ports?: readonly number[] } = {}): ChannelRig {
  const logged: ChannelRig['logged'] = [];
  const stderr: string[] = [];
  const signals: string[] = [];
  const openedUpstreams: Upstream[] = [];
  const network = createTestNetwork(ports);
  const open = createOpenUpstream({
    clock: systemClock,
    random: systemRandom,
    version: '0.0.0',
    network,
    log: (event, fields) => logged.push({ event, fields }),
    onStderr: (server, line) => stderr.push(`${server}: ${line}`),
    kill(pid, signal) {
      signals.push(signal);
      process.kill(pid, signal);
    },
    limits: createStdioLimits(),
    ...overrides,
  });
  return {
    logged,
    stderr,
    signals,
    async open(target, options = {}) {
      const upstream = await open(target, {
        server: 'test',
        owner: undefined,
        era: 'legacy',
        initTimeoutMs: 30_000,
        signal: new AbortController().signal,
        ...options,
      });
      openedUpstreams.push(upstream);
      return upstream;
    },
    async closeAll() {
      await Promise.all(openedUpstreams.splice(0).map((upstream) => upstream.close()));
      await network.close();
    },
  };
}

export const requestOptions = (overrides: Partial<UpstreamRequestOptions> = {}): UpstreamRequestOptions => ({
  signal: new AbortController().signal,
  timeoutMs: 20_000,
  totalMs: 40_000,
  ...overrides,
});

export async function sendRequest(
  upstream: Upstream,
  method: string,
  params: JsonObject = {},
  overrides: Partial<UpstreamRequestOptions> = {},
): Promise<JsonObject> {
  return (await upstream.request(method, params, requestOptions(overrides))).result;
}

export function callChannelTool(
  upstream: Upstream,
  name: string,
  args: JsonObject = {},
  overrides: Partial<UpstreamRequestOptions> = {},
): Promise<JsonObject> {
  return sendRequest(upstream, 'tools/call', { name, arguments: args }, overrides);
}

/** Every message that the scripted server got so far. */
export async function receivedBy(upstream: Upstream): Promise<readonly JsonObject[]> {
  const { structuredContent } = await callChannelTool(upstream, 'seen');
  return (structuredContent as { seen: JsonObject[] }).seen;
}

/** The process of a scripted server. */
export async function readPid(upstream: Upstream): Promise<number> {
  const { content } = (await callChannelTool(upstream, 'pid')) as { content: { text: string }[] };
  return Number(content[0]!.text);
}
