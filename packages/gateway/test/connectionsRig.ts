import { createRandom } from '@behalf/kernel';
import type { ServerSettings } from '@behalf/settings';
import { createFakeClock } from '@behalf/testkit';
import { createConnectionManager, type ConnectionLimits } from '../src/connections/connectionManager.ts';
import type { ConnectionHolder } from '../src/connections/connectionHolder.ts';
import type { AppServer, UserServer } from '../src/registry/server.ts';
import type {
  OpenOptions,
  AppBearer,
  RemoteTarget,
  SharedTarget,
  StdioTarget,
  UpstreamTarget,
} from '../src/upstream/target.ts';
import type { Era, ServerClaims, Upstream } from '../src/upstream/upstream.ts';
import {
  UpstreamError,
  type UpstreamErrorDetail,
  type UpstreamReason,
} from '../src/upstream/upstreamError.ts';

/** A conversation that says who opened it and counts how often it was closed. */
export interface FakeUpstream extends Upstream {
  readonly target: UpstreamTarget;
  readonly owner: string | undefined;
  closed: number;
  /** Ends from the other side. */
  drop(): void;
}

/** An opening that ends when the test says so. */
export interface FakeOpening {
  readonly target: UpstreamTarget;
  readonly options: OpenOptions;
  done: boolean;
  land(era?: Era, claims?: Partial<ServerClaims>): FakeUpstream;
  refuse(reason: UpstreamReason, detail?: UpstreamErrorDetail): void;
}

/** Of a connection that may be anybody's: a test adds a bearer by itself. */
type BareTarget = RemoteTarget & { readonly bearer?: AppBearer };

export function remote(url = 'https://one.example/mcp', more: Partial<BareTarget> = {}): BareTarget {
  return {
    type: 'streamable-http',
    url,
    headers: {},
    audience: 'yaml-server',
    proxy: undefined,
    sseReadTimeoutMs: 300_000,
    ...more,
  };
}

export const stdio: StdioTarget = {
  type: 'stdio',
  command: 'server',
  args: [],
  env: {},
  cwd: undefined,
  stderr: 'pipe',
};

const base = (id: string, revision: string) => ({
  id,
  tenant: 'default',
  name: id,
  source: 'yaml' as const,
  audience: 'yaml-server' as const,
  revision,
  // Of the settings, connections read these two.
  settings: { initTimeout: 30_000, era: 'auto' } as ServerSettings,
});

export function appServer(id = 'app', revision = '1', target: SharedTarget = remote()): AppServer {
  return { ...base(id, revision), scope: 'app', target };
}

export function userServer(id = 'own', revision = '1', more: Partial<UserServer> = {}): UserServer {
  return { ...base(id, revision), scope: 'user', auth: 'oauth', requestScoped: false, ...more };
}

export function holder(principal: string, more: Partial<ConnectionHolder> = {}): ConnectionHolder {
  return {
    principal,
    binding: `grant of ${principal}`,
    target: remote(undefined, { headers: { authorization: principal } }),
    ...more,
  };
}

/** A connection manager on a fake clock whose openings the test answers. */
export function connectionsRig(limits: Partial<ConnectionLimits> = {}) {
  const clock = createFakeClock();
  const openings: FakeOpening[] = [];
  const upstreams: FakeUpstream[] = [];
  const rig = {
    clock,
    openings,
    upstreams,
    /** What a server answers that is asked at once; undefined: the test answers. */
    answer: undefined as ((opening: FakeOpening) => void) | undefined,
    signal: new AbortController().signal,
    manager: createConnectionManager({
      clock,
      random: createRandom((length) => new Uint8Array(length).fill(128)),
      limits,
      open: (target, options) =>
        new Promise((resolve, reject) => {
          const opening: FakeOpening = {
            target,
            options,
            done: false,
            land(era = 'legacy', claims = {}) {
              opening.done = true;
              const upstream = fakeUpstream(target, options.owner, era, claims);
              upstreams.push(upstream);
              resolve(upstream);
              return upstream;
            },
            refuse(reason, detail) {
              opening.done = true;
              reject(new UpstreamError(reason, detail));
            },
          };
          openings.push(opening);
          rig.answer?.(opening);
        }),
    }),
    shared: (server: AppServer, options: object = {}) =>
      rig.manager.shared.lease(server, { signal: rig.signal, ...options }),
    user: (server: UserServer, who: ConnectionHolder, options: object = {}) =>
      rig.manager.user.lease(server, who, { signal: rig.signal, ...options }),
  };
  return rig;
}

export type ConnectionsRig = ReturnType<typeof connectionsRig>;

export function fakeUpstream(
  target: UpstreamTarget,
  owner: string | undefined,
  era: Era,
  claims: Partial<ServerClaims> = {},
): FakeUpstream {
  const listeners: (() => void)[] = [];
  let ended = false;
  const upstream: FakeUpstream = {
    target,
    owner,
    closed: 0,
    claims: {
      era,
      protocolVersion: era === 'modern' ? '2026-07-28' : '2025-11-25',
      name: 'fake',
      version: '1',
      instructions: undefined,
      capabilities: {},
      ...claims,
    },
    request: () => Promise.reject(new Error('a fake answers nothing')),
    listen: () => () => undefined,
    onClose(listener) {
      if (ended) listener();
      else listeners.push(listener);
    },
    async close() {
      upstream.closed += 1;
      upstream.drop();
    },
    drop() {
      ended = true;
      for (const listener of listeners.splice(0)) listener();
    },
  };
  return upstream;
}

/** Lets everything run that waits for nothing but its turn. */
export const turn = () => new Promise((resolve) => setImmediate(resolve));
