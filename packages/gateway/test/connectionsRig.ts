import { createRandom } from '@behalf/kernel';
import type { ServerSettings } from '@behalf/settings';
import { createFakeClock } from '@behalf/testkit';
import { createConnectionManager, type ConnectionLimits } from '../src/connections/connectionManager.ts';
import type { ConnectionHolder } from '../src/connections/lease.ts';
import type { AppServer, UserServer } from '../src/definitions/definition.ts';
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
  closeCount: number;
  /** Ends from the other side. */
  dropConnection(): void;
}

/** An opening that ends when the test says so. */
export interface FakeConnect {
  readonly target: UpstreamTarget;
  readonly options: OpenOptions;
  isSettled: boolean;
  complete(era?: Era, claims?: Partial<ServerClaims>): FakeUpstream;
  fail(reason: UpstreamReason, detail?: UpstreamErrorDetail): void;
}

/** Of a connection that may be anybody's: a test adds a bearer by itself. */
type RawTarget = RemoteTarget & { readonly bearer?: AppBearer };

export function createRemoteTarget(
  url = 'https://one.example/mcp',
  overrides: Partial<RawTarget> = {},
): RawTarget {
  return {
    type: 'streamable-http',
    url,
    headers: {},
    audience: 'yaml-server',
    proxy: undefined,
    sseReadTimeoutMs: 300_000,
    ...overrides,
  };
}

export const stdioTarget: StdioTarget = {
  type: 'stdio',
  command: 'server',
  args: [],
  env: {},
  cwd: undefined,
  stderr: 'pipe',
};

const baseServer = (id: string, revision: string) => ({
  id,
  tenant: 'default',
  name: id,
  source: 'yaml' as const,
  audience: 'yaml-server' as const,
  revision,
  // Of the settings, connections read these two.
  settings: { initTimeout: 30_000, era: 'auto' } as ServerSettings,
});

export function createAppServer(
  id = 'app',
  revision = '1',
  target: SharedTarget = createRemoteTarget(),
): AppServer {
  return { ...baseServer(id, revision), scope: 'app', target };
}

export function createUserServer(
  id = 'own',
  revision = '1',
  overrides: Partial<UserServer> = {},
): UserServer {
  return { ...baseServer(id, revision), scope: 'user', auth: 'oauth', requestScoped: false, ...overrides };
}

export function createHolder(principal: string, overrides: Partial<ConnectionHolder> = {}): ConnectionHolder {
  return {
    principal,
    binding: `grant of ${principal}`,
    target: createRemoteTarget(undefined, { headers: { authorization: principal } }),
    ...overrides,
  };
}

/** A connection manager on a fake clock whose openings the test answers. */
export function createConnectionsRig(limits: Partial<ConnectionLimits> = {}) {
  const clock = createFakeClock();
  const pendingOpens: FakeConnect[] = [];
  const upstreams: FakeUpstream[] = [];
  const rig = {
    clock,
    pendingOpens,
    upstreams,
    /** What a server answers that is asked at once; undefined: the test answers. */
    onOpen: undefined as ((pendingOpen: FakeConnect) => void) | undefined,
    signal: new AbortController().signal,
    manager: createConnectionManager({
      clock,
      random: createRandom((length) => new Uint8Array(length).fill(128)),
      limits,
      open: (target, options) =>
        new Promise((resolve, reject) => {
          const pendingOpen: FakeConnect = {
            target,
            options,
            isSettled: false,
            complete(era = 'legacy', claims = {}) {
              pendingOpen.isSettled = true;
              const upstream = createFakeUpstream(target, options.owner, era, claims);
              upstreams.push(upstream);
              resolve(upstream);
              return upstream;
            },
            fail(reason, detail) {
              pendingOpen.isSettled = true;
              reject(new UpstreamError(reason, detail));
            },
          };
          pendingOpens.push(pendingOpen);
          rig.onOpen?.(pendingOpen);
        }),
    }),
    leaseShared: (server: AppServer, options: object = {}) =>
      rig.manager.shared.lease(server, { signal: rig.signal, ...options }),
    leaseUser: (server: UserServer, holder: ConnectionHolder, options: object = {}) =>
      rig.manager.user.lease(server, holder, { signal: rig.signal, ...options }),
  };
  return rig;
}

export type ConnectionsRig = ReturnType<typeof createConnectionsRig>;

export function createFakeUpstream(
  target: UpstreamTarget,
  owner: string | undefined,
  era: Era,
  claims: Partial<ServerClaims> = {},
): FakeUpstream {
  const listeners: (() => void)[] = [];
  let isClosed = false;
  const upstream: FakeUpstream = {
    target,
    owner,
    closeCount: 0,
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
      if (isClosed) listener();
      else listeners.push(listener);
    },
    async close() {
      upstream.closeCount += 1;
      upstream.dropConnection();
    },
    dropConnection() {
      isClosed = true;
      for (const listener of listeners.splice(0)) listener();
    },
  };
  return upstream;
}

/** Lets everything run that waits for nothing but its turn. */
export const waitForImmediate = () => new Promise((resolve) => setImmediate(resolve));
