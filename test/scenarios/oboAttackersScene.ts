import type { DevUser } from '@behalf/devidp';
import { systemClock, type Clock } from '@behalf/kernel';
import {
  scriptedHttpServer,
  type ScriptedHttpServer,
  type ScriptedOptions,
  type ScriptedRequest,
} from '@behalf/testkit';
import { decodeJwt } from 'jose';
import { callWith, type Called } from './oboCaller.ts';
import { startOboScene, type OboScene, type Way } from './oboScene.ts';

/** What their tokens say of them; the roles are made by Ada. */
const people: readonly DevUser[] = [
  { id: 'ada', email: 'ada@example.test', name: 'Ada Admin', roles: ['ADMIN'] },
  { id: 'uma', email: 'uma@example.test', name: 'Uma User', roles: ['USER'] },
  { id: 'vic', email: 'vic@example.test', name: 'Vic User', roles: ['USER'] },
  { id: 'cara', email: 'cara@example.test', name: 'Cara Creator', roles: ['CREATOR'] },
  { id: 'edd', email: 'edd@example.test', name: 'Edd Editor', roles: ['CREATOR'] },
  { id: 'otto', email: 'otto@example.test', name: 'Otto Author', roles: ['AUTHOR'] },
  { id: 'olga', email: 'olga@example.test', name: 'Olga Author', roles: ['AUTHOR'] },
];
const creator = { USE: true, CREATE: true, SHARE: true };
const roles = { CREATOR: creator, AUTHOR: { ...creator, CONFIGURE_OBO: true } };

/** What the servers here are for, as every way of exchanging understands it. */
export const SCOPES = 'api://mail/.default';

/** Well before the end of one. */
const TOKEN_MS = 30 * 60 * 1000;

export interface StoredServer {
  readonly name: string;
  readonly id: string;
}

export interface Answered {
  readonly status: number;
  readonly body: {
    readonly code?: string;
    readonly errors?: readonly { readonly path: string; readonly code: string }[];
    readonly [field: string]: unknown;
  };
}

export interface AttackScene extends OboScene {
  /** An honest server: says whom it saw. */
  readonly good: ScriptedHttpServer;
  /** The attacker's. It answers whatever it is asked, and remembers every request. */
  readonly evil: ScriptedHttpServer;
  /** The token that this user's requests bring until they sign in anew. */
  tokenOf(user: string): string;
  ask(user: string, method: string, path: string, body?: unknown, type?: string): Promise<Answered>;
  /** Changes a server: its whole definition, or what differs. */
  patch(user: string, server: string, config: object, mode: 'replace' | 'merge'): Promise<Answered>;
  call(user: string, server: string): Promise<Called>;
  /** A server of this user that everybody may use. */
  publish(user: string, config: object): Promise<StoredServer>;
  share(owner: string, server: StoredServer, sharing: object): Promise<void>;
  /** Signs in anew: later requests of this user bring another token. The id of the account. */
  signIn(user: string): Promise<string>;
  /** The definition of a server that asks for tokens, at this address. */
  readonly obo: (url: string, more?: object) => Record<string, unknown>;
  /** What this user's tokens say of their roles from now on, until it is said again. */
  saysOf(user: string, roles: readonly string[]): { again(): void };
  /** Reads a changed configuration. */
  reconfigure(change: (yaml: string) => string): Promise<void>;
  /** What a server was sent since the last `forget`. */
  sentTo(server: ScriptedHttpServer): readonly ScriptedRequest[];
  /** What was remembered so far is forgotten. */
  forget(): void;
}

/** A gateway with honest users, an honest server, and everybody who would like to have a token sent elsewhere. */
export async function startAttackScene(
  way: Way,
  options: { clock?: Clock; variables?: Record<string, string> } = {},
): Promise<AttackScene> {
  const users = people.map((one) => ({ ...one }));
  const [good, evil] = [await whoamiServer(), await whoamiServer()];
  const addresses = [good, evil].map(({ port }) => `127.0.0.1:${port}`);
  const scene = await startOboScene({ ...options, way, users, addresses });

  /** The same one for all requests of a user, so that what is kept for it counts. */
  const tokens = new Map<string, { text: string; until: number }>();
  const { clock = systemClock } = options;
  function tokenOf(user: string): string {
    const known = tokens.get(user);
    if (known && clock.now() < known.until) return known.text;
    const text = scene.token(user);
    tokens.set(user, { text, until: clock.now() + TOKEN_MS });
    return text;
  }

  async function ask(
    user: string,
    method: string,
    path: string,
    body?: unknown,
    type = 'application/json',
  ): Promise<Answered> {
    const response = await fetch(new URL(path, scene.url), {
      method,
      headers: { authorization: `Bearer ${tokenOf(user)}`, 'content-type': type },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Answered['body']) };
  }
  const patch: AttackScene['patch'] = (user, server, config, mode) => {
    const type = mode === 'merge' ? 'application/merge-patch+json' : 'application/json';
    return ask(user, 'PATCH', `/api/mcp/servers/${server}`, { config }, type);
  };
  async function must(status: number, answer: Promise<Answered>): Promise<Answered['body']> {
    const { status: got, body } = await answer;
    if (got !== status) throw new Error(`${got}, not ${status}: ${JSON.stringify(body)}`);
    return body;
  }
  for (const [name, bits] of Object.entries(roles)) {
    await must(201, ask('ada', 'POST', '/api/admin/roles', { name, permissions: { MCP_SERVERS: bits } }));
  }
  const share = async (owner: string, { id }: StoredServer, sharing: object) => {
    const all = { updated: [], removed: [], public: false, ...sharing };
    await must(200, ask(owner, 'PUT', `/api/permissions/mcpServer/${id}`, all));
  };
  const marks = new Map<ScriptedHttpServer, number>();
  return {
    ...scene,
    ...{ good, evil, tokenOf, ask, patch, share },
    call: (user, server) => callWith(scene, tokenOf(user), server),
    async publish(user, config) {
      const made = await must(201, ask(user, 'POST', '/api/mcp/servers', { config }));
      const server = { name: String(made['serverName']), id: String(made['dbId']) };
      await share('ada', server, { public: true, publicAccessRoleId: 'mcpServer_viewer' });
      return server;
    },
    async signIn(user) {
      tokens.delete(user);
      return String((await must(200, ask(user, 'GET', '/api/user')))['id']);
    },
    obo: (url, more = {}) => ({ type: 'streamable-http', url, obo: { scopes: SCOPES }, ...more }),
    saysOf(user, said) {
      const one = users.find(({ id }) => id === user);
      if (!one) throw new Error(`Nobody is called ${user}`);
      const { roles: before = [] } = one;
      one.roles = said;
      return { again: () => void (one.roles = before) };
    },
    reconfigure: (change) => scene.configure(change(scene.startedWith.yaml)),
    sentTo: (server) => server.requests.slice(marks.get(server) ?? 0),
    forget() {
      for (const server of [good, evil]) marks.set(server, server.requests.length);
      scene.idp.requests.clear();
      scene.mail.credentials.clear();
    },
    async close() {
      await scene.close();
      await good.close();
      await evil.close();
    },
  };
}

/** Answers with whom the token speaks of. */
export function whoamiServer(options: Partial<ScriptedOptions> = {}): Promise<ScriptedHttpServer> {
  return scriptedHttpServer({
    era: 'legacy',
    getStream: true,
    tools: [
      {
        name: 'whoami',
        handler(_args, { request }) {
          const subject = subjectOf(request.headers.authorization) ?? 'nobody';
          return { content: [{ type: 'text', text: subject }], structuredContent: { subject } };
        },
      },
    ],
    capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} },
    methods: {
      'resources/list': () => ({ resources: [] }),
      'resources/templates/list': () => ({ resourceTemplates: [] }),
      'resources/read': () => ({ contents: [] }),
      'prompts/list': () => ({ prompts: [] }),
      'prompts/get': () => ({ messages: [] }),
    },
    ...options,
  });
}

export function subjectOf(authorization: string | undefined): string | undefined {
  const [, token] = /^Bearer (\S+)$/.exec(authorization ?? '') ?? [];
  return token === undefined ? undefined : decodeJwt(token).sub;
}

/** What of these requests looks like a token: in any header, in the address or in the body. */
export function tokensIn(requests: readonly ScriptedRequest[]): string[] {
  return requests.flatMap(({ headers, path, text }) => {
    const all = `${JSON.stringify(headers)} ${decodeURIComponent(path)} ${text}`;
    const plain = all.match(/eyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g) ?? [];
    const bearer = typeof headers.authorization === 'string' ? [headers.authorization] : [];
    return [...plain, ...bearer];
  });
}
