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
import { createMovableClock, type MovableClock } from './movableClock.ts';
import { createPeople, person, type Person } from './people.ts';
import { throughSignIn } from './throughSignIn.ts';

export interface DraftScene {
  readonly as: AuthorizationServer;
  /** Where users sign in. */
  readonly mcp: GuardedMcpServer;
  /** Another server with the same authorization server, where users may define theirs as well. */
  readonly other: GuardedMcpServer;
  /** Another authorization server, where the same holds. */
  readonly elsewhere: AuthorizationServer;
  /** A server that asks nobody for anything. */
  readonly plain: ScriptedHttpServer;
  readonly gateway: InProcessGateway;
  readonly clock: Pick<MovableClock, 'now' | 'move'>;
  readonly mia: Person;
  readonly eve: Person;
  readonly root: Person;
  /** Everybody again, at another replica over the same store. */
  readonly beside: () => Promise<{ readonly mia: Person; readonly eve: Person; readonly url: string }>;
  readonly discover: (who: Person, request?: object) => Promise<Response>;
  /** What it says to somebody whom it answers. */
  readonly discovered: (who: Person, request?: object) => Promise<DiscoverToolsView>;
  /** Up to the page at the end, whose address it gives. */
  readonly signIn: (
    who: Person,
    begun?: Response,
  ) => Promise<{ readonly draftId: string; readonly end: URL }>;
  readonly save: (who: Person, draft: string | undefined, over?: object) => Promise<CreatedServerView>;
}

export interface DraftSceneOptions {
  readonly as?: AuthorizationServerOptions;
  readonly guard?: Partial<GuardSwitches>;
  /** Of the configuration besides. */
  readonly settings?: (of: { readonly as: AuthorizationServer; readonly mcp: GuardedMcpServer }) => object;
  readonly variables?: Record<string, string>;
  readonly plain?: ScriptedOptions;
}

/** A gateway with people who may define servers, and a server that wants them to sign in. All of it is closed after each test. */
export function createDraftScenes(): (options?: DraftSceneOptions) => Promise<DraftScene> {
  const opened: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const part of opened.splice(0).reverse()) await part.close();
  });
  const open = <T extends { close(): Promise<void> }>(part: T): T => {
    opened.push(part);
    return part;
  };

  return async ({ as: options = {}, guard, settings, variables = {}, plain: script } = {}) => {
    const clock = createMovableClock();
    const as = open(await startAuthorizationServer({ now: () => clock.now(), ...options }));
    const serve = async () =>
      open(
        await guardedMcpServer({
          era: 'legacy',
          authorizationServer: as,
          tools: [{ name: 'echo' }, { name: 'write' }],
          ...(guard && { guard }),
        }),
      );
    const [mcp, other] = [await serve(), await serve()];
    const elsewhere = open(await startAuthorizationServer());
    const plain = open(await scriptedHttpServer(script ?? { era: 'legacy', tools: [{ name: 'open' }] }));
    const places = [mcp.url, other.url, plain.url, as.issuer, elsewhere.issuer];
    const hosts = places.map((url) => new URL(url).host);
    const yaml = JSON.stringify({ mcpSettings: { allowedAddresses: hosts }, ...settings?.({ as, mcp }) });
    const common = { RATE_LIMIT_WRITES: '100000', ...variables };
    const gateway = open(await startInProcess(common, yaml, clock));
    const people = await createPeople(gateway, [
      { name: 'Mia', role: 'MAKER' },
      { name: 'Eve', role: 'MAKER' },
      { name: 'Root', role: 'ADMIN' },
    ]);
    const [mia, eve, root] = people as [Person, Person, Person];
    const permissions = { MCP_SERVERS: { USE: true, CREATE: true, SHARE: true } };
    expect((await root.post('/api/admin/roles', { name: 'MAKER', permissions })).status).toBe(201);

    const discover = (who: Person, request: object = {}) =>
      who.post('/api/mcp/discover-tools', { url: mcp.url, ...request });
    return {
      ...{ as, mcp, other, elsewhere, plain, gateway, clock, mia, eve, root, discover },
      async beside() {
        const address = `http://localhost:${new URL(gateway.url).port}`;
        const shared = { ...common, BEHALF_DATA_DIR: gateway.dataDir, PUBLIC_URL: address };
        const other = open(await startInProcess(shared, yaml, clock));
        const at = ({ id, cookie }: Person) => person(other.url, id, cookie.slice(cookie.indexOf('=') + 1));
        return { mia: at(mia), eve: at(eve), url: other.url };
      },
      async discovered(who, request) {
        const response = await discover(who, request);
        const body: unknown = await response.json();
        expect([response.status, body]).toEqual([200, body]);
        return DiscoverToolsView.parse(body);
      },
      async signIn(who, begun) {
        const response = begun ?? (await discover(who));
        const view = DiscoverToolsView.parse(await response.clone().json());
        if (view.outcome !== 'authorization_required') throw new Error(view.outcome);
        return { draftId: view.draftId, end: await throughSignIn(gateway.url, who, response) };
      },
      async save(who, draft, over = {}) {
        const config = { type: 'streamable-http', url: mcp.url, title: 'Mine', ...over };
        const response = await who.post('/api/mcp/servers', {
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
