import { DiscoverToolsView, type CreatedServerView } from '@behalf/contracts';
import {
  guardedMcpServer,
  scriptedHttpServer,
  startAuthorizationServer,
  type AuthorizationServer,
  type AuthorizationServerOptions,
  type GuardedMcpServer,
  type GuardSwitches,
  type ScriptedHttpServer,
  type ScriptedOptions,
} from '@behalf/testkit';
import { expect, afterEach } from '@jest/globals';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { createAdjustableClock, type AdjustableClock } from './adjustableClock.ts';
import { createUsers, connectUser, type TestUser } from './users.ts';
import { completeSignIn } from './completeSignIn.ts';

export interface DraftRig {
  readonly as: AuthorizationServer;
  /** Where users sign in. */
  readonly mcp: GuardedMcpServer;
  /** Another server with the same authorization server, where users may define theirs as well. */
  readonly otherServer: GuardedMcpServer;
  /** Another authorization server, where the same holds. */
  readonly otherIssuer: AuthorizationServer;
  /** A server that asks nobody for anything. */
  readonly plain: ScriptedHttpServer;
  readonly gateway: InProcessGateway;
  readonly clock: Pick<AdjustableClock, 'now' | 'advance'>;
  readonly mia: TestUser;
  readonly eve: TestUser;
  readonly root: TestUser;
  /** Everybody again, at another replica over the same store. */
  readonly startReplica: () => Promise<{
    readonly mia: TestUser;
    readonly eve: TestUser;
    readonly url: string;
  }>;
  readonly discoverTools: (user: TestUser, request?: object) => Promise<Response>;
  /** What it says to somebody whom it answers. */
  readonly discoverView: (user: TestUser, request?: object) => Promise<DiscoverToolsView>;
  /** Up to the page at the end, whose address it gives. */
  readonly signIn: (
    user: TestUser,
    discovery?: Response,
  ) => Promise<{ readonly draftId: string; readonly end: URL }>;
  readonly save: (
    user: TestUser,
    draft: string | undefined,
    overrides?: object,
  ) => Promise<CreatedServerView>;
}

export interface DraftRigOptions {
  readonly as?: AuthorizationServerOptions;
  readonly guard?: Partial<GuardSwitches>;
  /** Of the configuration besides. */
  readonly settings?: (of: { readonly as: AuthorizationServer; readonly mcp: GuardedMcpServer }) => object;
  readonly variables?: Record<string, string>;
  readonly plain?: ScriptedOptions;
}

/** A gateway with people who may define servers, and a server that wants them to sign in. All of it is closed after each test. */
export function createDraftRigs(): (options?: DraftRigOptions) => Promise<DraftRig> {
  const disposables: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const disposable of disposables.splice(0).reverse()) await disposable.close();
  });
  const track = <T extends { close(): Promise<void> }>(disposable: T): T => {
    disposables.push(disposable);
    return disposable;
  };

  return async ({ as: options = {}, guard, settings, variables = {}, plain: serverScript } = {}) => {
    const clock = createAdjustableClock();
    const as = track(await startAuthorizationServer({ now: () => clock.now(), ...options }));
    const startGuardedServer = async () =>
      track(
        await guardedMcpServer({
          era: 'legacy',
          authorizationServer: as,
          tools: [{ name: 'echo' }, { name: 'write' }],
          ...(guard && { guard }),
        }),
      );
    const [mcp, otherServer] = [await startGuardedServer(), await startGuardedServer()];
    const otherIssuer = track(await startAuthorizationServer());
    const openServer = track(
      await scriptedHttpServer(serverScript ?? { era: 'legacy', tools: [{ name: 'open' }] }),
    );
    const origins = [mcp.url, otherServer.url, openServer.url, as.issuer, otherIssuer.issuer];
    const hosts = origins.map((url) => new URL(url).host);
    const yaml = JSON.stringify({ mcpSettings: { allowedAddresses: hosts }, ...settings?.({ as, mcp }) });
    const commonVariables = { RATE_LIMIT_WRITES: '100000', ...variables };
    const gateway = track(await startInProcess(commonVariables, yaml, clock));
    const users = await createUsers(gateway, [
      { name: 'Mia', role: 'MAKER' },
      { name: 'Eve', role: 'MAKER' },
      { name: 'Root', role: 'ADMIN' },
    ]);
    const [mia, eve, root] = users as [TestUser, TestUser, TestUser];
    const permissions = { MCP_SERVERS: { USE: true, CREATE: true, SHARE: true } };
    expect((await root.post('/api/admin/roles', { name: 'MAKER', permissions })).status).toBe(201);

    const discoverTools = (user: TestUser, request: object = {}) =>
      user.post('/api/mcp/discover-tools', { url: mcp.url, ...request });
    return {
      ...{
        as,
        mcp,
        otherServer,
        otherIssuer,
        plain: openServer,
        gateway,
        clock,
        mia,
        eve,
        root,
        discoverTools,
      },
      async startReplica() {
        const publicUrl = `http://localhost:${new URL(gateway.url).port}`;
        const replicaVariables = {
          ...commonVariables,
          BEHALF_DATA_DIR: gateway.dataDir,
          PUBLIC_URL: publicUrl,
        };
        const otherServer = track(await startInProcess(replicaVariables, yaml, clock));
        const userAt = ({ id, cookie }: TestUser) =>
          connectUser(otherServer.url, id, cookie.slice(cookie.indexOf('=') + 1));
        return { mia: userAt(mia), eve: userAt(eve), url: otherServer.url };
      },
      async discoverView(user, request) {
        const response = await discoverTools(user, request);
        const body: unknown = await response.json();
        expect([response.status, body]).toEqual([200, body]);
        return DiscoverToolsView.parse(body);
      },
      async signIn(user, discovery) {
        const response = discovery ?? (await discoverTools(user));
        const view = DiscoverToolsView.parse(await response.clone().json());
        if (view.outcome !== 'authorization_required') throw new Error(view.outcome);
        return { draftId: view.draftId, end: await completeSignIn(gateway.url, user, response) };
      },
      async save(user, draft, overrides = {}) {
        const config = { type: 'streamable-http', url: mcp.url, title: 'Mine', ...overrides };
        const response = await user.post('/api/mcp/servers', {
          config,
          ...(draft !== undefined && { draft }),
        });
        const body = (await response.json()) as CreatedServerView;
        expect([response.status, body]).toEqual([201, body]);
        return body;
      },
    };
  };
}
